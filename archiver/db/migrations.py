"""Schema migrations with Alembic."""

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

from archiver.helpers import MIGRATIONS


def upgrade(conn: Connection) -> None:
    """Run pending migrations. Blocking."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = conn
    command.upgrade(config, "head")
    conn.commit()
