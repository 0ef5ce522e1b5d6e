"""Women and men in texts: swapping their gender, with a log of every edit, and counting them."""
