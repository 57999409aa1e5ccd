import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** Each makes a valid store unusable in a different way. */
export const DAMAGES: Readonly<Record<string, (file: string) => void>> = {
  'pages overwritten': (file) => {
    const bytes = readFileSync(file);
    bytes.fill(0x5a, 8192, Math.min(bytes.length, 8192 * 8));
    writeFileSync(file, bytes);
  },
  'cut off': (file) => truncateSync(file, Math.floor(statSync(file).size / 2)),
  'not a database': (file) => writeFileSync(file, 'This was a shopping list.\n'.repeat(500)),
  'database of another program': (file) => {
    writeFileSync(file, '');
    change(file, 'create table recipes (name text); insert into recipes values (1)');
  },
  'newer version': (file) => change(file, 'pragma user_version = 4711'),
  'ledger row changed': (file) =>
    change(
      file,
      `drop trigger ledger_keeps_rows;
       update ledger set body = replace(body, 'COMPLETED', 'CANCELLED') where seq = (select max(seq) from ledger)`,
    ),
  'ledger row removed': (file) =>
    change(
      file,
      `drop trigger ledger_loses_no_rows; delete from ledger where seq = (select max(seq) from ledger)`,
    ),
};

/** Each removes rows that the head file names; the remaining store is consistent. */
export const LOSSES: Readonly<Record<string, (file: string) => void>> = {
  'cut to 0 bytes': (file) => truncateSync(file, 0),
  'moved away': (file) => rmSync(file),
  'log deleted': (file) => rmSync(`${file}-wal`),
  'log header zeroed': (file) => {
    const bytes = readFileSync(`${file}-wal`);
    writeFileSync(`${file}-wal`, bytes.fill(0, 0, 32));
  },
  'one bit of the log flipped': (file) => {
    const bytes = readFileSync(`${file}-wal`);
    const middle = Math.floor(bytes.length / 2);
    bytes[middle] = (bytes[middle] ?? 0) ^ 1;
    writeFileSync(`${file}-wal`, bytes);
  },
  'head file torn': (file) => truncateSync(`${file}-head`, 40),
};

function change(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
}
