import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@patchboard/client';
import { aSchema, sharedPostgres, type SharedPostgres } from '../../services/shared-postgres.ts';
import { queryOnce } from '../../services/with-client.ts';
import { aFolder } from '../../support/a-folder.ts';
import { afterUse } from '../../support/after-use.ts';
import { cleanEnvironment } from '../../support/server-process.ts';
import { waitFor } from '../../support/wait-for.ts';

const CHILD = fileURLToPath(new URL('node-child.ts', import.meta.url));
export const TOKEN = 'operator-token-of-the-cluster-test';
export const HEADERS = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };

export interface CallView {
  readonly tool_call_id: string;
  readonly state: string;
  readonly status: string;
  readonly result: unknown;
  readonly error: { readonly code: string; readonly outcome?: string } | null;
  readonly workspace?: 'new';
  readonly completed_at: number | null;
  readonly deadline_at: string | null;
  readonly timeline: readonly { readonly at: string }[];
}

export interface NodeResponse {
  readonly status: number;
  readonly json: unknown;
}

/** A server process that shares its store with others. */
export class TestNode {
  readonly pid: number;
  readonly #log: () => string;
  readonly #url: () => string;
  readonly #exited: Promise<readonly unknown[]>;

  constructor(pid: number, url: () => string, log: () => string, exited: Promise<readonly unknown[]>) {
    this.pid = pid;
    this.#url = url;
    this.#log = log;
    this.#exited = exited;
  }

  get url(): string {
    return this.#url();
  }

  /** What it has logged so far. */
  get log(): string {
    return this.#log();
  }

  signal(name: NodeJS.Signals): void {
    process.kill(this.pid, name);
  }

  async exit(): Promise<void> {
    this.signal('SIGTERM');
    await this.exited();
  }

  /** Resolves to the exit code; null if a signal has ended the process. */
  async exited(): Promise<number | null> {
    const [code] = await this.#exited;
    return code as number | null;
  }

  async get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<NodeResponse> {
    return await this.send('GET', path, undefined, headers);
  }

  /** As `post`, with the status of the response. */
  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<NodeResponse> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: { ...HEADERS, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, json: text === '' ? null : (JSON.parse(text) as unknown) };
  }

  /** A single-use token that opens a browser session. */
  async loginToken(): Promise<string> {
    const link = await createClient({ url: this.url, key: TOKEN }).loginLink();
    return link.url_path.split('#login=')[1] ?? '';
  }

  async metrics(): Promise<string> {
    return await (await fetch(`${this.url}/metrics`, { headers: HEADERS })).text();
  }

  async post(path: string, body: unknown, waitSeconds = 0): Promise<CallView> {
    const response = await fetch(`${this.url}${path}`, {
      method: 'POST',
      headers: { ...HEADERS, prefer: `wait=${waitSeconds}` },
      body: JSON.stringify(body),
    });
    return (await response.json()) as CallView;
  }

  /** Submits a call that takes `ms`. `more`: further members of the body. */
  async invoke(tool: string, ms: number, waitSeconds = 0, more: object = {}): Promise<CallView> {
    return await this.post(`/v1/tools/${tool}/invoke`, { run_id: 'r1', args: { ms }, ...more }, waitSeconds);
  }

  async call({ tool_call_id: id }: CallView, waitSeconds = 0): Promise<CallView> {
    const response = await fetch(`${this.url}/v1/tool_calls/${id}`, {
      headers: { ...HEADERS, prefer: `wait=${waitSeconds}` },
    });
    return (await response.json()) as CallView;
  }
}

export interface TestCluster {
  /** Starts a node. Killed when the test, or outside of a test the file, has ended. */
  readonly join: (
    environment?: Readonly<Record<string, string>>,
    args?: readonly string[],
  ) => Promise<TestNode>;
  /** Queries the schema of the store, as another session. */
  readonly query: (text: string, values?: readonly unknown[]) => Promise<Record<string, unknown>[]>;
  /** The processes that have executed the call. */
  readonly ranIn: (call: Pick<CallView, 'tool_call_id'>) => readonly number[];
  /** Whether an execution of the call was stopped. */
  readonly wasStopped: (call: CallView) => boolean;
}

/** `lines`: more lines of the config. */
export async function aCluster(lines = '', given?: Pick<SharedPostgres, 'url'>): Promise<TestCluster> {
  const service = given ?? (await sharedPostgres(15));
  const schema = aSchema(service);
  const folder = await aFolder();
  const effects = join(folder, 'effects.txt');
  const config = join(folder, 'config.yaml');
  writeFileSync(effects, '');
  writeFileSync(config, `store: { schema: ${schema} }\n${lines}\n`);
  const recorded = (): string[] => readFileSync(effects, 'utf8').split('\n');
  let nodes = 0;
  const start: TestCluster['join'] = async (environment = {}, args = []) => {
    nodes += 1;
    const child = spawn(process.execPath, ['--conditions=patchboard-source', CHILD, effects, ...args], {
      cwd: folder,
      env: {
        ...cleanEnvironment(),
        PORT: '0',
        DATABASE_URL: service.url,
        PATCHBOARD_CONFIG: config,
        PATCHBOARD_DATA: join(folder, `data-${nodes}`),
        PATCHBOARD_OPERATOR_TOKEN: TOKEN,
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const exited = once(child, 'close');
    afterUse(async () => {
      child.kill('SIGKILL');
      await exited;
    });
    let [out, log] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
    const url = (): string => {
      const [last] = [...out.matchAll(/ready at (http:\/\/\S+)/g)].toReversed();
      if (last?.[1] === undefined) throw new Error(`the node is not ready: ${log}`);
      return last[1];
    };
    await waitFor(() => {
      if (child.exitCode !== null) throw new Error(`the node ended: ${log}`);
      url();
    });
    return new TestNode(child.pid ?? 0, url, () => log, exited);
  };
  return {
    join: start,
    query: async (text, values = []) =>
      await queryOnce({ connectionString: service.url, options: `-c search_path=${schema}` }, text, values),
    ranIn: ({ tool_call_id: id }) =>
      recorded().flatMap((line) => (line.startsWith(`${id} `) ? [Number(line.split(' ')[1])] : [])),
    wasStopped: ({ tool_call_id: id }) => recorded().includes(`stopped ${id}`),
  };
}
