import { shellWord } from '@patchboard/wire';
import type { DatabaseLocation } from '../store-location.ts';

/** Returns the command that backs up the schema. It contains no password: `pg_dump` asks for it, or reads PGPASSWORD. */
export function pgDumpLine({ shown, schema }: DatabaseLocation, file: string): string {
  return ['pg_dump', '--format=custom', `--schema=${schema}`, `--file=${file}`, `--dbname=${shown}`]
    .map(shellWord)
    .join(' ');
}
