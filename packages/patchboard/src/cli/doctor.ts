import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import type { Command } from 'commander';
import { messageOf } from '../core/failures.ts';
import { clientSettings, environment } from './config.ts';
import { resolveSettings } from './settings.ts';

interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
}

export function registerDoctor(program: Command): void {
  program
    .command('doctor')
    .description('check this machine, its settings and the server')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExits 1 when something is wrong.\n\nExample:\n  $ patchboard doctor')
    .action(async ({ json = false }: { json?: boolean }) => {
      const findings = [checkNode(), ...(await checkSettings()), await checkServer()];
      process.stdout.write(json ? `${JSON.stringify({ findings }, null, 2)}\n` : findings.map(line).join(''));
      if (findings.some((finding) => !finding.ok)) process.exitCode = 1;
    });
}

function line({ check, ok, detail }: Finding): string {
  return `${ok ? 'ok  ' : 'FAIL'}  ${check.padEnd(12)} ${detail}\n`;
}

function checkNode(): Finding {
  const major = Number(process.versions.node.split('.')[0]);
  return { check: 'node', ok: major >= 24, detail: `${process.versions.node} (24 or newer is needed)` };
}

async function checkSettings(): Promise<Finding[]> {
  try {
    const settings = resolveSettings(environment(), {});
    const found: Finding[] = [{ check: 'settings', ok: true, detail: `${settings.host}:${settings.port}` }];
    return [...found, await checkDataFolder(settings.dataFolder)];
  } catch (error) {
    return [{ check: 'settings', ok: false, detail: messageOf(error) }];
  }
}

async function checkDataFolder(folder: string): Promise<Finding> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return { check: 'data folder', ok: true, detail: folder };
  } catch (error) {
    return { check: 'data folder', ok: false, detail: messageOf(error) };
  }
}

/** A server that does not run is no fault: the line says how to start it. */
async function checkServer(): Promise<Finding> {
  const { url } = clientSettings(environment());
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(3000) });
    const body = (await response.json()) as { version?: unknown };
    return { check: 'server', ok: response.ok, detail: `${url} answers, version ${String(body.version)}` };
  } catch {
    return { check: 'server', ok: true, detail: `${url} does not answer; start it with: patchboard serve` };
  }
}
