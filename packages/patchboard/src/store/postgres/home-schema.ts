import { tablesIn } from './schema.ts';

/**
 * Version 4: the home of a run's workspace is one holder of a writer, `home` at `home_epoch`, and `home_place` identifies the
 * volume with its files.
 */
export function homeSchema(schema: string): string {
  const { runs } = tablesIn(schema);
  return `alter table ${runs} add column home_epoch bigint, add column home_place text;`;
}
