import childProcess from 'node:child_process';
import dgram from 'node:dgram';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import workerThreads from 'node:worker_threads';

/** Setup of the unit tier: a test that starts a process, a worker or a socket fails at that call. */
const STARTERS = ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync'] as const;

for (const name of STARTERS) Object.assign(childProcess, { [name]: refusal(`child_process.${name}`) });
Object.assign(workerThreads, { Worker: refusal('new Worker') });
Object.assign(net.Server.prototype, { listen: refusal('server.listen') });
Object.assign(net.Socket.prototype, { connect: refusal('socket.connect') });
Object.assign(dgram, { createSocket: refusal('dgram.createSocket') });
syncBuiltinESMExports();

function refusal(what: string): () => never {
  return function refuse(): never {
    throw new Error(
      `${what} in a unit test: rename the file to *.integration.test.ts, see CONTRIBUTING.md, section Tests`,
    );
  };
}
