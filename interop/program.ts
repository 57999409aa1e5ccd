import { execFile } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const TIME_LIMIT_MS = 60_000;

/** The file behind a specifier such as `mcp-remote/dist/proxy.js`. */
export function fileOf(specifier: string): string {
  return fileURLToPath(import.meta.resolve(specifier));
}

/** Runs a program of an installed package and returns its output. Rejects if it fails. */
export async function program(file: string, args: readonly string[]): Promise<string> {
  return await new Promise((resolve, reject) => {
    execFile(process.execPath, [file, ...args], { timeout: TIME_LIMIT_MS }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${args.join(' ')}: ${stderr || stdout || error.message}`));
    });
  });
}
