from evenhand.text.substitute import substituted as substituted
