"""The usage table in memory, for tests of those who write to it."""

from engine.stores.database.failures import DatabaseAway, RowsRefused


class MemoryTable:
    """Rows by their id. `away` is how many inserts fail: before the rows are in or, with
    `answer_lost`, after it. Rows with `refused_ids` are refused."""

    blocks = False

    def __init__(self):
        self.database = self
        self.display_url = "memory"
        self.rows = {}
        self.inserts = 0
        self.away = 0
        self.answer_lost = False
        self.refused_ids = ()
        self.deletions = []
        self.hours_to_fill = 0

    def insert(self, rows):
        self.inserts += 1
        is_away = self.away > 0
        self.away -= is_away
        if is_away and not self.answer_lost:
            raise DatabaseAway("memory does not answer")
        if any(row[0] in self.refused_ids for row in rows):
            raise RowsRefused("memory refuses a row")
        new = {row[0]: row for row in rows if row[0] not in self.rows}
        self.rows |= new
        if is_away:
            raise DatabaseAway("memory does not answer any more")
        return len(new)

    def delete_before(self, before, limit):
        self.deletions.append(before)
        return limit if len(self.deletions) < 3 else 0

    def fill(self):
        self.hours_to_fill -= self.hours_to_fill > 0
        return self.hours_to_fill > 0
