"""Women and men in texts: swapping their gender, with a log of every edit, and counting them."""

from evenhand.core.lazy import loader

__getattr__ = loader(__name__)
