"""Whether measures follow bias: their values for models of known bias."""
