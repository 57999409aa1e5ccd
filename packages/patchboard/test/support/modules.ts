import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { resolveSettings } from '../../src/settings/settings.ts';
import { startPlatform, type Platform } from '../../src/wiring/platform.ts';
import { SILENT_LOG } from '../../src/runtime/silent-log.ts';
import { aFolder } from './a-folder.ts';

/** A temporary module that a config refers to. */
export async function aModule(name: string, text: string): Promise<string> {
  const path = join(await aFolder(), name);
  await writeFile(path, text);
  return path;
}

/** A server in this process with that config; it is closed when the test has ended. */
export async function serveWith(config: unknown): Promise<Platform> {
  const file = await aModule('config.json', JSON.stringify(config));
  const data = join(await aFolder(), 'data');
  const platform = await startPlatform(resolveSettings({}, { port: '0', data, config: file }), SILENT_LOG);
  onTestFinished(() => platform.close());
  return platform;
}
