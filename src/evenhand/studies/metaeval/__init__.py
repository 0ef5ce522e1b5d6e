"""Does a measure of bias follow bias? Models whose bias is known, and what measures say of them."""
