/** Ledger. */
export const ledgerWords = {
  ledger: {
    about: 'The record of every change, chained by hashes, oldest first.',
    trace: 'Trace',
    call: 'Call id',
    after: 'After row',
    kind: 'Kind',
    body: 'What happened',
    hash: 'Hash',
    row: 'Row {seq}',
    none: 'No rows in this time. A call adds some:',
    loaded: '1 row. | {count} rows.',
    verify: 'Verify',
    export: 'Export',
    holds: 'The only row is verified. | All {rows} rows verified.',
    broken: 'Broken at row {seq}: {problem}',
  },
};
