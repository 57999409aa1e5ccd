import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { databaseTool } from '../tool.ts';
import type { DatabaseTool, DatabaseToolOptions } from '../tool.ts';

const MIB = 1024 * 1024;

/** The tool with limits like those of the pack. */
export function aDatabaseTool(given: Pick<DatabaseToolOptions, 'target'> & Partial<DatabaseToolOptions>): DatabaseTool {
  return databaseTool({
    forbidden: { files: [], store: null },
    limits: { maxRows: 1000, maxBytes: MIB / 2, maxValueBytes: MIB, maxMemoryBytes: 384 * MIB },
    maxProcesses: 2,
    idleMs: 60_000,
    now: () => 0,
    ...given,
  });
}

export interface TemporaryFolder {
  file(name: string): string;
  remove(): void;
}

export function aFolder(): TemporaryFolder {
  const folder = mkdtempSync(join(tmpdir(), 'patchboard-database-'));
  return {
    file: (name) => join(folder, name),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Creates a SQLite file from SQL statements. */
export function writeDatabase(file: string, statements: string): void {
  const database = new DatabaseSync(file);
  database.exec(statements);
  database.close();
}
