// Runs the conformance suite of MCP and the clients in interop/ against this build. Passes its arguments on: names of
// clients, or `conformance`. The clients are a separate package outside the workspaces, so that they are never installed
// for users.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { installNestedPackage, ROOT } from './nested-package.mjs';

installNestedPackage('interop/conformance');
installNestedPackage('interop');

const args = ['--conditions=patchboard-source', join(ROOT, 'interop', 'main.ts'), ...process.argv.slice(2)];
const child = spawn(process.execPath, args, { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code) => process.exit(code ?? 1));
