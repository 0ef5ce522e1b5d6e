from evenhand.text.swap import substituted as substituted
