import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';

export interface RedisService {
  readonly pid: number;
  readonly socket: string;
  stop(): Promise<void>;
}

/**
 * A separate Redis that appends every change to a file and syncs it once a second. Null if it is not
 * installed.
 */
export async function startRedis(folder: string): Promise<RedisService | null> {
  if (spawnSync('redis-server', ['--version']).status !== 0) return null;
  const socket = join(folder, 'redis.sock');
  const settings = { port: '0', unixsocket: socket, dir: folder, appendonly: 'yes', appendfsync: 'everysec' };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const endWithUs = (): void => void server.kill('SIGKILL');
  process.once('exit', endWithUs);
  await untilReady(server);
  return {
    pid: server.pid ?? 0,
    socket,
    stop: async () => {
      const ended = once(server, 'exit');
      server.kill('SIGTERM');
      await ended;
      process.removeListener('exit', endWithUs);
    },
  };
}

async function untilReady(server: ChildProcess): Promise<void> {
  let output = '';
  for await (const chunk of server.stdout ?? []) {
    output += String(chunk);
    if (/ready to accept connections/i.test(output)) {
      server.stdout?.resume();
      return;
    }
  }
  throw new Error(`redis-server ended before it was ready: ${output}`);
}
