import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { set } from './options.mjs';

export const NODE_OF_SERVER = 24;

const FOLDER = dirname(fileURLToPath(import.meta.url));
const LAUNCHER = join(dirname(FOLDER), 'patchboard.mjs');
const STOP_MS = 3000;

/** `patchboard serve` as a child process, on the data folder and a free port of the loopback address. */
export class StartedServer {
  #child;

  constructor(node, dataFolder) {
    const flags = ['--host', '127.0.0.1', '--port', '0', '--data', dataFolder, '--stop-with-stdin'];
    const env = { ...process.env, PATCHBOARD_LOG: set(process.env.PATCHBOARD_LOG) ?? 'warn' };
    this.#child = spawn(node, [LAUNCHER, 'serve', ...flags], { stdio: ['pipe', 'pipe', 'pipe'], env });
    this.#child.stdin.on('error', () => {});
  }

  /**
   * Resolves to the URL when the server is ready, or to the last line of its stderr when it ended before.
   * @returns {Promise<{ url: string } | { url: null, problem: string }>}
   */
  ready() {
    const child = this.#child;
    let output = '';
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      process.stderr.write(text);
      errors = (errors + text).slice(-2000);
    });
    return new Promise((settle) => {
      child.stdout.setEncoding('utf8').on('data', (text) => {
        output = (output + text).slice(-2000);
        const url = /ready at (http:\/\/\S+).*\n/.exec(output)?.[1];
        if (url !== undefined) settle({ url });
      });
      child.once('error', (error) => settle({ url: null, problem: error.message }));
      child.once('close', (code) => {
        const problem = errors.trim().split('\n').pop() || `it ended with code ${code}`;
        settle({ url: null, problem });
      });
    });
  }

  /** Ends its stdin, on which the server stops; it stops too if this process is killed. */
  async stop() {
    const child = this.#child;
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.stdin.end();
    await Promise.race([once(child, 'exit'), sleep(STOP_MS)]);
  }
}

/** Returns this Node, or the one that is installed as a package beside this file; null if both are too old. */
export function nodeForServer() {
  if (!existsSync(LAUNCHER)) return null;
  if (majorOf(process.versions.node) >= NODE_OF_SERVER) return process.execPath;
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  for (let folder = FOLDER; ; folder = dirname(folder)) {
    const path = join(folder, 'node_modules', 'node', 'bin', name);
    if (existsSync(path)) {
      const version = execFileSync(path, ['--version'], { encoding: 'utf8' }).slice(1);
      if (majorOf(version) >= NODE_OF_SERVER) return path;
    }
    if (folder === dirname(folder)) return null;
  }
}

function majorOf(version) {
  return Number(version.split('.')[0]);
}
