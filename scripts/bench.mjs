// Runs the benchmark, a separate package outside the workspaces, so that the compared packages are never
// installed for users. Passes its arguments on.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { installNestedPackage, ROOT } from './nested-package.mjs';

installNestedPackage('bench');

const args = ['--conditions=patchboard-source', join(ROOT, 'bench', 'main.ts'), ...process.argv.slice(2)];
const child = spawn(process.execPath, args, { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code) => process.exit(code ?? 1));
