import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServer, type ServerProcess } from '../support/server-process.ts';

/**
 * Grants and waiting approvals of existing data folders name a version: the hash of name, description, schemas and
 * annotations. A new text of a built-in tool makes them void, so a change of one of these rows is a decision.
 */
const VERSIONS: readonly (readonly [name: string, version: string])[] = [
  ['bash_kill', 'dfd0637f6dc77d47'],
  ['bash_logs', '50ed924c7850dbca'],
  ['bash_run', 'f6320cac55beb7f4'],
  ['calculation.eval', '05847fcb725f2f02'],
  ['database.query', 'bc54149da5a5f17a'],
  ['fs_edit', 'afea91b61445b3a8'],
  ['fs_glob', '96b53ba7c9fde54b'],
  ['fs_grep', 'bbbd1a9414139650'],
  ['fs_multi_edit', '704c4b8a1dd72e6c'],
  ['fs_read', '59a4a65164bceb2e'],
  ['fs_write', 'b3d802592e0c93e3'],
  ['todo_read', 'f1638d8c0521c6b5'],
  ['todo_write', '2a324170067f69af'],
  ['weather.query', 'd331929a079eb903'],
];

let server: ServerProcess;
beforeAll(async () => {
  server = await startServer({});
});
afterAll(async () => {
  await server.stop();
});

it('keeps the contract version of every built-in tool', async () => {
  const response = await fetch(`${server.url}/v1/tools`);
  const { tools } = (await response.json()) as { tools: { name: string; version: string }[] };
  const versions = tools.map(({ name, version }) => [name, version.slice(0, 16)]);
  expect(versions.sort(([a = ''], [b = '']) => a.localeCompare(b, 'en'))).toEqual(VERSIONS);
});
