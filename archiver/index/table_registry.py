"""What all tables belong to, whichever module describes them."""

from sqlalchemy import MetaData

metadata = MetaData()
