import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleanEnvironment, ROOT } from '../support/server-process.ts';

const PACKAGES = ['@patchboard/wire', '@patchboard/client', 'patchboard'];

/**
 * A folder outside the repository with our packages installed from `npm pack`, and other packages from the
 * repository.
 */
export function installPackages(): { readonly folder: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'patchboard-installed-'));
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@patchboard'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  linkOthers(modules);
  const options = { cwd: ROOT, env: cleanEnvironment(), encoding: 'utf8' } as const;
  // Builds only if sources have changed.
  execFileSync(process.execPath, [join('scripts', 'build.mjs')], options);
  const workspaces = PACKAGES.flatMap((name) => ['--workspace', name]);
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder, ...workspaces];
  const packed = JSON.parse(execFileSync('npm', args, options)) as { name: string; filename: string }[];
  for (const { name, filename } of packed) {
    const target = join(modules, ...name.split('/'));
    mkdirSync(target);
    execFileSync('tar', ['-xzf', join(folder, filename), '--strip-components=1', '-C', target]);
  }
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function linkOthers(modules: string): void {
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name.startsWith('.') || name === 'patchboard' || name === '@patchboard') continue;
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
}
