import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import process from 'node:process';

export interface RestateService {
  readonly pid: number;
  /** Address for registering handlers. */
  readonly admin: string;
  /** Address for calling them. */
  readonly ingress: string;
  stop(): Promise<void>;
}

/** The default is 24. On two cores 2, 8 and 24 did not differ beyond noise. */
const PARTITIONS = 8;

/** A separate Restate server of one node, whose log is synced before it responds. Null if it is not installed. */
export async function startRestate(folder: string): Promise<RestateService | null> {
  const binary = findBinary();
  if (binary === null) return null;
  const args = ['--no-logo', '--base-dir', folder, '--node-name', 'bench'];
  const network = ['--listen-mode', 'tcp', '--bind-ip', '127.0.0.1', '--use-random-ports', 'true'];
  const server = spawn(binary, [...args, ...network], {
    env: {
      RESTATE_LOG_FORMAT: 'json',
      // It looks for a newer release, which fails without a network.
      RESTATE_LOG_FILTER: 'warn,restate=info,octocrab=off',
      RESTATE_DISABLE_TELEMETRY: 'true',
      RESTATE_DEFAULT_NUM_PARTITIONS: String(PARTITIONS),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const endWithUs = (): void => void server.kill('SIGKILL');
  process.once('exit', endWithUs);
  const ports = await listeningPorts(server);
  return {
    pid: server.pid ?? 0,
    admin: `http://127.0.0.1:${ports['admin-api-server']}`,
    ingress: `http://127.0.0.1:${ports['http-ingress-server']}`,
    stop: async () => {
      const ended = once(server, 'exit');
      server.kill('SIGTERM');
      await ended;
      process.removeListener('exit', endWithUs);
    },
  };
}

function findBinary(): string | null {
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`;
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    return null; // there is no package for this platform
  }
}

interface LogLine {
  readonly span?: { readonly server_name?: string; readonly 'server.port'?: number };
}

/** The server chooses its ports and logs them. */
async function listeningPorts(server: ChildProcess): Promise<Record<string, number>> {
  const ports: Record<string, number> = {};
  let rest = '';
  for await (const chunk of server.stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const { span } = JSON.parse(line) as LogLine;
      if (span?.server_name !== undefined) ports[span.server_name] = span['server.port'] ?? 0;
    }
    if ('admin-api-server' in ports && 'http-ingress-server' in ports) {
      server.stdout?.resume();
      return ports;
    }
  }
  throw new Error('restate-server ended before it was ready');
}
