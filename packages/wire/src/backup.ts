/** Media type of `POST /v1/backup`: an SQLite database file. */
export const BACKUP_TYPE = 'application/vnd.sqlite3';

/** Response headers of `POST /v1/backup`: sequence number and hash of the newest ledger row in the file. */
export const BACKUP_HEADERS = {
  seq: 'patchboard-ledger-seq',
  hash: 'patchboard-ledger-hash',
} as const;
