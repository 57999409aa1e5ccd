#!/usr/bin/env node
// `patchboard mcp`: MCP over stdin and stdout, forwarded to the `/mcp` of a running server.
// One file without dependencies, because MCP clients start it with whatever Node they find: it runs on Node 18.
import { spawn, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const SELF = fileURLToPath(import.meta.url);
const LAUNCHER = join(dirname(SELF), 'patchboard.mjs');
const NEEDED_FOR_SERVER = 24;

const MAX_LINE_BYTES = 4 * 1024 * 1024;
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
/** Stdin is not read while more bytes of requests than this wait for the server. */
const MAX_UNSENT_BYTES = 16 * 1024 * 1024;
const MAX_OPEN_REQUESTS = 500;
const PROBE_MS = 2000;
/** How long to wait for a server that starts or stops on the data folder. */
const TAKEOVER_MS = 10_000;
/** Requests that are open when stdin ends may finish within this time, as in `patchboard mcp < requests.jsonl`. */
const END_GRACE_MS = 2000;
const SERVER_STOP_MS = 3000;

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const HEADER_MISMATCH = -32020;
/** The member of `params` that `Mcp-Name` repeats. */
const NAMED_BY = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

const USAGE = `Usage: patchboard mcp [options]

serve MCP over stdin and stdout, forwarded to a running server

Options:
  --url <url>       URL of the server (PATCHBOARD_URL)
  --tools <list>    offer only these tools, such as weather.*,github.*
                    (PATCHBOARD_MCP_TOOLS)
  --hold <seconds>  how long a call may take before the client gets a receipt
  -h, --help        display help for command
`;

// ---------------------------------------------------------------------------------------------- errors

class UsageError extends Error {}

/** A failed request. `outcome` says whether it may have run. */
class RequestError extends Error {
  constructor(code, outcome, message) {
    super(message);
    this.data = { code, outcome };
  }
}

function unreachable(message) {
  return new RequestError('server_unreachable', 'not_started', message);
}

/** Returns the reason that `fetch` hides in the cause of its error. */
function reasonOf(error) {
  return error?.cause?.code ?? error?.code ?? error?.cause?.message ?? error?.message ?? String(error);
}

/** Reasons of failures before a connection was there, so that nothing was sent. */
const NO_CONNECTION = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  // Of fetch, for ports of other protocols.
  'bad port',
]);

/** Writes a line to stderr; stdout carries the protocol only. */
function note(text) {
  process.stderr.write(`patchboard mcp: ${text}\n`);
}

/** Reports a rejection of work that nothing awaits. */
function inBackground(work) {
  work.catch((error) => note(String(error?.stack ?? error)));
}

// ---------------------------------------------------------------------------------------------- options

function optionsFrom(argv, env) {
  const given = { url: set(env.PATCHBOARD_URL), tools: set(env.PATCHBOARD_MCP_TOOLS), hold: set(undefined) };
  for (let at = 0; at < argv.length; at += 1) {
    const [name, ...rest] = argv[at].split('=');
    if (name === '--help' || name === '-h') return { help: true };
    if (!['--url', '--tools', '--hold'].includes(name)) throw new UsageError(`unknown option '${argv[at]}'`);
    const value = rest.length > 0 ? rest.join('=') : argv[(at += 1)];
    if (value === undefined || value === '') throw new UsageError(`option '${name}' needs a value`);
    given[name.slice(2)] = value;
  }
  if (given.hold !== null && !/^[1-9]\d*$/.test(given.hold))
    throw new UsageError(`--hold must be a whole number of seconds, not "${given.hold}"`);
  const key = set(env.PATCHBOARD_KEY);
  // An operator never decides on its own calls, so approvals of calls made as operator would have no one to decide.
  if (key !== null && key.startsWith('op_'))
    throw new UsageError(
      'PATCHBOARD_KEY is the operator token; set it to the key of an agent: patchboard keys create --kind agent --name NAME',
    );
  return {
    url: given.url === null ? null : baseUrl(given.url),
    defaultUrl: `http://127.0.0.1:${set(env.PORT) ?? '8080'}`,
    dataFolder: resolve(set(env.PATCHBOARD_DATA) ?? '.patchboard'),
    key,
    query: queryOf(given),
  };
}

/**
 * Treats an empty variable as not set.
 * @param {string | undefined} value
 */
function set(value) {
  return value === undefined || value === '' ? null : value;
}

function baseUrl(text) {
  let url;
  try {
    url = new URL(text);
  } catch {
    throw new UsageError(`"${text}" is not a URL`);
  }
  if (!/^https?:$/.test(url.protocol)) throw new UsageError(`"${text}" is not an http or https URL`);
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function queryOf({ tools, hold }) {
  const query = new URLSearchParams();
  if (tools !== null) query.set('tools', tools);
  if (hold !== null) query.set('hold', hold);
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

// ---------------------------------------------------------------------------------------------- the server

/**
 * Finds the server: the given URL, the server of the data folder, or the default URL. Where none answers, starts one that
 * ends with this process.
 */
class ServerFinder {
  #options;
  /** @type {string | null} */
  #url = null;
  /** @type {Promise<string> | null} */
  #finding = null;
  /** Whether the server in use ends with a bridge, so that another may be started after it. */
  #isTemporary = true;
  /** @type {import('node:child_process').ChildProcessWithoutNullStreams | null} */
  #child = null;
  /** @type {string | null} */
  #startProblem = null;

  constructor(options) {
    this.#options = options;
  }

  /** Resolves to the base URL. Rejects with a `RequestError` if no server answers. */
  find() {
    if (this.#url !== null) return Promise.resolve(this.#url);
    this.#finding ??= this.#search().then(
      (url) => {
        this.#finding = null;
        return (this.#url = url);
      },
      (error) => {
        this.#finding = null;
        throw error;
      },
    );
    return this.#finding;
  }

  /** The base URL of the server in use, or null. */
  get known() {
    return this.#url;
  }

  /** Resolves to the base URL of a running server, or to null. Starts none. */
  async look() {
    if (this.#url !== null) return this.#url;
    if (this.#options.url !== null) return this.#options.url;
    return (await this.#running()) ?? null;
  }

  /** Forgets a server that does not answer. Returns whether another may be found. */
  lost(url) {
    if (this.#url === url) this.#url = null;
    return this.#options.url === null;
  }

  async stop() {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    // The server stops when its stdin ends, also if this process is killed.
    child.stdin.end();
    await Promise.race([once(child, 'exit'), sleep(SERVER_STOP_MS)]);
  }

  async #search() {
    if (this.#options.url !== null) return this.#options.url;
    const running = await this.#running();
    if (running !== null) return running;
    if (!this.#isTemporary)
      throw unreachable('the server has stopped; start it again with: patchboard serve');
    return await this.#start();
  }

  async #running() {
    const fromFile = await this.#fromServerFile();
    if (fromFile !== null) return fromFile;
    const { defaultUrl } = this.#options;
    if (!(await isPatchboard(defaultUrl))) return null;
    this.#isTemporary = false;
    return defaultUrl;
  }

  /** Waits while the process in `server.json` lives and does not answer: it is about to stop. */
  async #fromServerFile() {
    for (const deadline = Date.now() + TAKEOVER_MS; Date.now() < deadline; await sleep(100)) {
      const server = readServerFile(this.#options.dataFolder);
      if (server === null || !isAlive(server.pid)) return null;
      if (!(await isPatchboard(server.url))) continue;
      this.#isTemporary = server.temporary === true;
      return server.url;
    }
    return null;
  }

  async #start() {
    const { dataFolder } = this.#options;
    if (this.#startProblem !== null) throw unreachable(this.#startProblem);
    const node = nodeForServer();
    if (node === null) {
      this.#startProblem =
        `no server answers at ${this.#options.defaultUrl} or in ${dataFolder}, and none can be started here, which ` +
        `needs Node ${NEEDED_FOR_SERVER} (this is ${process.version}); start it with: patchboard serve`;
      note(this.#startProblem);
      throw unreachable(this.#startProblem);
    }
    note(`no server is running; starting one on the data folder ${dataFolder}, which ends with this process`);
    const started = await this.#spawn(node, dataFolder);
    if (started.url !== null) {
      note(`the server listens at ${started.url}`);
      this.#isTemporary = true;
      return started.url;
    }
    // Another bridge may have started one at the same moment: the data folder has one owner.
    const log = join(dataFolder, 'patchboard.db-wal');
    for (let waitedMs = 0; waitedMs < TAKEOVER_MS; waitedMs += 100, await sleep(100)) {
      const url = await this.#fromServerFile();
      if (url !== null) return url;
      // A server that has the store open has a write-ahead log.
      if (waitedMs >= 1000 && !existsSync(log)) break;
    }
    this.#startProblem = `no server answers, and none could be started: ${started.problem}`;
    note(this.#startProblem);
    throw unreachable(this.#startProblem);
  }

  /** Resolves to the URL when the server is ready, or to the last line of its stderr when it ended before. */
  #spawn(node, dataFolder) {
    const flags = ['--host', '127.0.0.1', '--port', '0', '--data', dataFolder, '--stop-with-stdin'];
    const env = { ...process.env, PATCHBOARD_LOG: set(process.env.PATCHBOARD_LOG) ?? 'warn' };
    const child = spawn(node, [LAUNCHER, 'serve', ...flags], { stdio: ['pipe', 'pipe', 'pipe'], env });
    this.#child = child;
    child.stdin.on('error', () => {});
    let said = '';
    let complained = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      process.stderr.write(text);
      complained = (complained + text).slice(-2000);
    });
    return new Promise((settle) => {
      child.stdout.setEncoding('utf8').on('data', (text) => {
        said = (said + text).slice(-2000);
        const url = /ready at (http:\/\/\S+).*\n/.exec(said)?.[1];
        if (url !== undefined) settle({ url });
      });
      child.once('error', (error) => settle({ url: null, problem: error.message }));
      child.once('close', (code) => {
        const problem = complained.trim().split('\n').pop() || `it ended with code ${code}`;
        settle({ url: null, problem });
      });
    });
  }
}

/** Returns null if there is no readable file. */
function readServerFile(dataFolder) {
  try {
    const value = JSON.parse(readFileSync(join(dataFolder, 'server.json'), 'utf8'));
    return typeof value.url === 'string' && Number.isSafeInteger(value.pid) ? value : null;
  } catch {
    return null;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

async function isPatchboard(url) {
  try {
    const response = await fetch(`${url}/healthz`, {
      signal: AbortSignal.timeout(PROBE_MS),
      redirect: 'error',
    });
    return typeof parsed(await textOf(response))?.version === 'string';
  } catch {
    return false;
  }
}

/** Returns this Node, or the one that is installed as a package beside this file; null if both are too old. */
function nodeForServer() {
  if (!existsSync(LAUNCHER)) return null;
  if (majorOf(process.versions.node) >= NEEDED_FOR_SERVER) return process.execPath;
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  for (let folder = dirname(SELF); ; folder = dirname(folder)) {
    const path = join(folder, 'node_modules', 'node', 'bin', name);
    if (existsSync(path)) {
      const version = execFileSync(path, ['--version'], { encoding: 'utf8' }).slice(1);
      if (majorOf(version) >= NEEDED_FOR_SERVER) return path;
    }
    if (folder === dirname(folder)) return null;
  }
}

function majorOf(version) {
  return Number(version.split('.')[0]);
}

// ---------------------------------------------------------------------------------------------- lines and events

/** Splits bytes into lines. Of a line over the limit it keeps both ends only, in which the id of a request can be found. */
class LineSplitter {
  #limit;
  #parts = [];
  #bytes = 0;
  /** @type {string | null} */
  #head = null;

  constructor(limit) {
    this.#limit = limit;
  }

  *push(chunk) {
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      this.#add(chunk.subarray(from, at));
      from = at + 1;
      yield this.#take();
    }
    this.#add(chunk.subarray(from));
  }

  /** Yields the last line if it has no line end. */
  *end() {
    if (this.#bytes > 0) yield this.#take();
  }

  #add(part) {
    this.#parts.push(part);
    this.#bytes += part.length;
    if (this.#bytes <= this.#limit) return;
    const all = Buffer.concat(this.#parts);
    this.#head ??= all.subarray(0, 1024).toString('latin1');
    this.#parts = [Buffer.from(all.subarray(-1024))];
  }

  #take() {
    const text = Buffer.concat(this.#parts).toString('utf8').replace(/\r$/, '');
    const line = this.#head === null ? { text } : { overlong: { head: this.#head, tail: text } };
    this.#parts = [];
    this.#bytes = 0;
    this.#head = null;
    return line;
  }
}

/** Yields the data of each event of a stream. */
async function* eventsOf(body) {
  const lines = new LineSplitter(MAX_RESPONSE_BYTES);
  let data = [];
  for await (const chunk of body) {
    for (const { text, overlong } of lines.push(Buffer.from(chunk))) {
      if (overlong) throw new Error(`an event is larger than ${MAX_RESPONSE_BYTES} bytes`);
      if (text.startsWith('data:')) data.push(text.slice(text[5] === ' ' ? 6 : 5));
      else if (text === '' && data.length > 0) {
        yield data.join('\n');
        data = [];
      }
    }
  }
}

async function textOf(response) {
  const parts = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_RESPONSE_BYTES)
      throw new Error(`the response is larger than ${MAX_RESPONSE_BYTES} bytes`);
    parts.push(Buffer.from(chunk));
  }
  return Buffer.concat(parts).toString('utf8');
}

function isEventStream(response) {
  return (response.headers.get('content-type') ?? '').includes('text/event-stream');
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the id of a request of which only the ends are known, if it is the second member or the last one. */
function idIn({ head, tail }) {
  const id = String.raw`("(?:[^"\\]|\\.){0,500}"|-?\d{1,15})`;
  const found =
    new RegExp(String.raw`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*${id}\s*,`).exec(head) ??
    new RegExp(String.raw`,\s*"id"\s*:\s*${id}\s*\}\s*$`).exec(tail);
  return found === null ? null : (parsed(found[1]) ?? null);
}

// ---------------------------------------------------------------------------------------------- headers

/** Returns the value if it is plain header text, otherwise its base64 form. */
function headerValue(text) {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}

/** Returns the properties with `x-mcp-header`, by the names under which a tool can be called. */
function* paramHeadersOf(tools) {
  for (const tool of Array.isArray(tools) ? tools : []) {
    const found = [];
    collectParams(tool?.inputSchema, [], found);
    yield [tool?.name, found];
    const canonical = tool?._meta?.['patchboard/name'];
    if (typeof canonical === 'string') yield [canonical, found];
  }
}

function collectParams(schema, path, found) {
  for (const [key, inner] of Object.entries(schema?.properties ?? {})) {
    const header = inner?.['x-mcp-header'];
    if (typeof header === 'string' && /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(header))
      found.push({ path: [...path, key], header });
    collectParams(inner, [...path, key], found);
  }
}

function paramHeaders(declared, args) {
  const headers = {};
  for (const { path, header } of declared ?? []) {
    const value = path.reduce((node, key) => (Object(node) === node ? node[key] : undefined), args);
    const isSafe =
      typeof value !== 'number' ||
      (Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value)));
    if (['string', 'boolean', 'number'].includes(typeof value) && isSafe)
      headers[`mcp-param-${header.toLowerCase()}`] = headerValue(String(value));
  }
  return headers;
}

// ---------------------------------------------------------------------------------------------- the bridge

class Bridge {
  #server;
  #options;
  /** Open requests by id. */
  #open = new Map();
  #unsentBytes = 0;
  /** @type {((value?: unknown) => void) | null} */
  #onSent = null;
  /** @type {Promise<unknown> | null} */
  #draining = null;
  /**
   * The session of the eras before 2026-07-28; null before `initialize`.
   * @type {Session | null}
   */
  #session = null;
  /** Resolves when `initialize` and `notifications/initialized` are through: messages after them wait. */
  #handshake = Promise.resolve();
  /** @type {Promise<void> | null} */
  #renewing = null;
  #ownRequests = 0;
  /** `x-mcp-header` properties by tool name, from lists of tools. */
  #paramHeaders = new Map();
  #hasListed = false;
  #isEnding = false;
  /** @type {((value?: unknown) => void) | null} */
  #cutGrace = null;
  #hasReached = false;
  #hasFailed = false;

  constructor(options) {
    this.#options = options;
    this.#server = new ServerFinder(options);
  }

  async run() {
    process.stdout.on('error', () => inBackground(this.#end(0)));
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'])
      process.on(signal, () => inBackground(this.#end(0)));
    // The first request reports the error.
    this.#server.find().catch(() => {});
    const lines = new LineSplitter(MAX_LINE_BYTES);
    for await (const chunk of process.stdin) {
      for (const line of lines.push(chunk)) this.#take(line);
      while (this.#unsentBytes > MAX_UNSENT_BYTES) await new Promise((sent) => (this.#onSent = sent));
    }
    for (const line of lines.end()) this.#take(line);
    await this.#end(END_GRACE_MS);
  }

  /** Ends open requests after `graceMs`, the session, and the server that this process started. Exits. */
  async #end(graceMs) {
    // A signal ends the grace period.
    this.#cutGrace?.();
    if (this.#isEnding) return;
    this.#isEnding = true;
    const finite = [...this.#open.values()].filter(({ method }) => method !== 'subscriptions/listen');
    if (graceMs > 0 && finite.length > 0)
      await Promise.race([
        Promise.all(finite.map(({ done }) => done)),
        sleep(graceMs),
        new Promise((cut) => (this.#cutGrace = cut)),
      ]);
    for (const { controller } of this.#open.values()) controller.abort();
    await this.#endSession(this.#session);
    await this.#server.stop();
    const code = this.#hasFailed && !this.#hasReached ? 1 : 0;
    if (process.stdout.destroyed || process.stdout.errored) process.exit(code);
    process.stdout.write('', () => process.exit(code));
  }

  async #endSession(session) {
    if (session === null) return;
    session.controller.abort();
    if (session.id === null) return;
    try {
      const signal = AbortSignal.timeout(PROBE_MS);
      const { known } = this.#server;
      if (known !== null)
        await fetch(this.#endpoint(known), { method: 'DELETE', headers: this.#headersOf(session), signal });
    } catch (error) {
      // A server that is gone has no session.
      if (!NO_CONNECTION.has(reasonOf(error))) note(`the session could not be ended: ${reasonOf(error)}`);
    }
  }

  #endpoint(url) {
    return `${url}/mcp${this.#options.query}`;
  }

  // ------------------------------------------------------------------ from stdin

  #take(line) {
    const { text, overlong } = line;
    if (overlong) {
      const message = `the message is longer than ${MAX_LINE_BYTES} bytes`;
      return this.#writeError(idIn(overlong), { code: -32600, message });
    }
    if (text.trim() === '') return;
    const message = parsed(text);
    if (typeof message !== 'object' || message === null)
      return this.#writeError(null, { code: -32700, message: 'the line is not a JSON-RPC message' });
    const isCancel = message.method === 'notifications/cancelled';
    const cancelled = isCancel ? this.#open.get(message.params?.requestId) : undefined;
    if (cancelled !== undefined) cancelled.isCancelled = true;
    // In the modern era, closing the exchange cancels the request.
    if (cancelled?.isModern) return cancelled.controller.abort();
    if (isCancel && this.#session === null) return;
    inBackground(this.#forward(text, message));
  }

  async #forward(text, message) {
    const ids = [message].flat().flatMap((one) => (isRequest(one) ? [one.id] : []));
    const version = message.params?._meta?.[VERSION_KEY];
    const exchange = {
      text,
      message,
      method: message.method,
      ids: new Set(ids),
      controller: new AbortController(),
      version: typeof version === 'string' ? version : null,
      isModern: typeof version === 'string',
      isCancelled: false,
      done: /** @type {Promise<void> | null} */ (null),
    };
    if (ids.length > 0 && this.#open.size >= MAX_OPEN_REQUESTS) {
      const data = { code: 'too_many_requests', outcome: 'not_started' };
      const problem = `${MAX_OPEN_REQUESTS} requests are open; wait until some have ended`;
      for (const id of ids) this.#writeError(id, { code: -32603, message: problem, data });
      return;
    }
    for (const id of ids) this.#open.set(id, exchange);
    const done = this.#exchange(exchange).catch((error) => this.#fail(exchange, error));
    exchange.done = done;
    await done;
    for (const id of ids) if (this.#open.get(id) === exchange) this.#open.delete(id);
  }

  /** Sends one message and writes what the server returns. */
  async #exchange(exchange) {
    const { message, isModern, method } = exchange;
    const isHandshake = method === 'initialize' || method === 'notifications/initialized';
    const before = this.#handshake;
    let finish = () => {};
    if (!isModern && isHandshake) this.#handshake = new Promise((through) => (finish = through));
    try {
      if (!isModern) await before;
      if (isModern && method === 'tools/call') await this.#knowTool(message);
      if (method === 'initialize') await this.#endSession(this.#session);
      if (method === 'initialize') this.#session = null;
      let response = await this.#send(exchange);
      response = await this.#sendAgainIfRefused(exchange, response);
      await this.#receive(exchange, response);
    } finally {
      finish();
    }
  }

  /** Repeats a request that the server refused before it ran: the session is unknown, or the headers are out of date. */
  async #sendAgainIfRefused(exchange, response) {
    const { session, message, isModern, method } = exchange;
    if (session?.id && response.status === 404) {
      await textOf(response);
      // A response and a cancellation mean something in the old session only.
      if (method === undefined || method === 'notifications/cancelled') return null;
      await this.#renew(session);
      return await this.#send(exchange);
    }
    if (isModern && method === 'tools/call' && response.status === 400 && !isEventStream(response)) {
      const text = await textOf(response);
      if (parsed(text)?.error?.code !== HEADER_MISMATCH)
        return { status: 400, headers: response.headers, alreadyRead: text };
      await this.#listTools(message);
      return await this.#send(exchange);
    }
    return response;
  }

  async #send(exchange) {
    const { text, controller } = exchange;
    this.#unsentBytes += text.length;
    try {
      for (let attempt = 1; ; attempt += 1) {
        const url = await this.#server.find();
        try {
          exchange.session = exchange.isModern || exchange.method === 'initialize' ? null : this.#session;
          const headers = this.#headersFor(exchange);
          const response = await fetch(this.#endpoint(url), {
            method: 'POST',
            headers,
            body: text,
            signal: controller.signal,
            redirect: 'error',
          });
          this.#hasReached = true;
          return response;
        } catch (error) {
          if (controller.signal.aborted) throw error;
          const mayFindAnother = this.#server.lost(url);
          if (!NO_CONNECTION.has(reasonOf(error))) throw lostConnection(url, error);
          if (!mayFindAnother || attempt > 1)
            throw unreachable(
              `no server answers at ${url} (${reasonOf(error)}); start it with: patchboard serve. The request was not sent`,
            );
        }
      }
    } finally {
      this.#unsentBytes -= text.length;
      this.#onSent?.();
    }
  }

  #headersFor({ message, version, isModern, session }) {
    const headers = { 'content-type': 'application/json', ...this.#headersOf(session) };
    if (!isModern) return headers;
    headers['mcp-protocol-version'] = headerValue(version);
    headers['mcp-method'] = headerValue(String(message.method));
    const name = message.params[NAMED_BY[message.method]];
    if (typeof name === 'string') headers['mcp-name'] = headerValue(name);
    if (message.method === 'tools/call')
      Object.assign(headers, paramHeaders(this.#paramHeaders.get(name), message.params.arguments));
    return headers;
  }

  #headersOf(session) {
    const { key } = this.#options;
    return {
      accept: 'application/json, text/event-stream',
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(session?.id ? { 'mcp-session-id': session.id } : {}),
      ...(session ? { 'mcp-protocol-version': session.version } : {}),
    };
  }

  // ------------------------------------------------------------------ to stdout

  async #receive(exchange, response) {
    if (response === null) return;
    const { ids, method } = exchange;
    if (isEventStream(response)) {
      try {
        for await (const data of eventsOf(response.body)) {
          this.#learn(exchange, response, parsed(data));
          await this.#write(data);
        }
      } catch (error) {
        throw exchange.controller.signal.aborted ? error : lostConnection(response.url, error);
      }
      if (ids.size > 0) throw lostConnection(response.url, new Error('the stream ended'));
      return;
    }
    const text = response.alreadyRead ?? (await textOf(response));
    const message = parsed(text);
    if (ids.size === 0) {
      if (response.status >= 400)
        note(`${method ?? 'a response'} was refused: ${refusalOf(response, message).message}`);
      return;
    }
    this.#learn(exchange, response, message);
    if (ids.size === 0) return await this.#write(text);
    const error = refusalOf(response, message);
    for (const id of ids) this.#writeError(id, error);
    ids.clear();
  }

  /** Marks requests as answered, and keeps what later requests need: the session, and the headers of tools. */
  #learn(exchange, response, received) {
    for (const message of [received].flat()) {
      if (typeof message?.method === 'string' || !exchange.ids.delete(message?.id)) continue;
      const { result } = message;
      if (exchange.method === 'tools/list')
        for (const [name, found] of paramHeadersOf(result?.tools)) this.#paramHeaders.set(name, found);
      if (exchange.method === 'initialize' && typeof result?.protocolVersion === 'string')
        this.#openSession(exchange.message.params, response, result.protocolVersion);
      if (result !== undefined) this.#session?.remember(exchange.message);
    }
  }

  /** Resolves when stdout accepts more. */
  async #write(text) {
    // In JSON, a line end can only stand between tokens.
    const line = /[\r\n]/.test(text) ? text.replace(/[\r\n]+/g, ' ') : text;
    if (process.stdout.write(`${line}\n`) || process.stdout.destroyed) return;
    this.#draining ??= once(process.stdout, 'drain').finally(() => (this.#draining = null));
    await this.#draining;
  }

  #writeError(id, error) {
    inBackground(this.#write(JSON.stringify({ jsonrpc: '2.0', id, error })));
  }

  #fail({ ids, controller, method, isCancelled }, error) {
    // A cancelled request gets no response.
    if (controller.signal.aborted || isCancelled) return;
    this.#hasFailed = true;
    const data = error.data ?? { code: 'bridge_failed', outcome: 'unknown' };
    if (ids.size === 0) note(`${method ?? 'a response'} was not sent: ${error.message}`);
    for (const id of ids) this.#writeError(id, { code: -32603, message: error.message, data });
  }

  // ------------------------------------------------------------------ sessions (eras before 2026-07-28)

  #openSession(params, response, version) {
    const session = new Session(params, response.headers.get('mcp-session-id'), version);
    this.#session = session;
    if (session.id !== null) inBackground(this.#listen(session));
  }

  /** Forwards what the server sends outside of responses, and reconnects when the stream ends. */
  async #listen(session) {
    const { signal } = session.controller;
    for (let delayMs = 500; !signal.aborted; delayMs = Math.min(delayMs * 2, 30_000)) {
      const url = await this.#server.look();
      try {
        const stream = url === null ? null : await this.#openStream(url, session);
        // The server offers no such stream, or has lost the session.
        if (stream?.status === 405) return;
        // A new session is not unknown: there, 404 means that the server has no streams.
        if (stream?.status === 404) return session.hadStream ? await this.#renew(session) : null;
        if (stream?.ok && isEventStream(stream)) {
          delayMs = 500;
          session.hadStream = true;
          for await (const data of eventsOf(stream.body)) await this.#write(data);
        }
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof RequestError) note(error.message);
        if (NO_CONNECTION.has(reasonOf(error))) this.#server.lost(url);
      }
      await sleep(delayMs, undefined, { signal }).catch(() => {});
    }
  }

  async #openStream(url, session) {
    const { signal } = session.controller;
    const response = await fetch(this.#endpoint(url), { headers: this.#headersOf(session), signal });
    if (!isEventStream(response)) await textOf(response);
    return response;
  }

  /** Opens a new session in place of one that the server lost by a restart. */
  #renew(old) {
    if (this.#session !== old) return this.#renewing ?? Promise.resolve();
    this.#renewing ??= this.#initializeAgain(old).finally(() => (this.#renewing = null));
    return this.#renewing;
  }

  async #initializeAgain(old) {
    const { response, message } = await this.#request('initialize', old.params, null);
    const version = message?.result?.protocolVersion;
    if (version !== old.version) {
      const why = message?.error?.message ?? `it now speaks version ${version} instead of ${old.version}`;
      throw new RequestError(
        'session_lost',
        'not_started',
        `the session was lost, and the server opened no new one: ${why}`,
      );
    }
    old.controller.abort();
    const session = new Session(old.params, response.headers.get('mcp-session-id'), version);
    this.#session = session;
    await this.#post(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }), session);
    for (const { method, params } of old.remembered.values()) {
      await this.#request(method, params, session);
      session.remember({ method, params });
    }
    note('the server has restarted; the session was opened again');
    if (session.id !== null) inBackground(this.#listen(session));
  }

  // ------------------------------------------------------------------ requests of the bridge itself

  /** Sends a request whose response is not forwarded. */
  async #request(method, params, session, headers = {}) {
    const id = `patchboard-mcp-${(this.#ownRequests += 1)}`;
    const response = await this.#post(
      JSON.stringify({ jsonrpc: '2.0', id, method, params }),
      session,
      headers,
    );
    if (!isEventStream(response)) return { response, message: parsed(await textOf(response)) };
    for await (const data of eventsOf(response.body)) {
      const message = parsed(data);
      if (message?.id === id) return { response, message };
      await this.#write(data);
    }
    return { response, message: undefined };
  }

  async #post(body, session, more = {}) {
    const url = await this.#server.find();
    const headers = { 'content-type': 'application/json', ...this.#headersOf(session), ...more };
    try {
      return await fetch(this.#endpoint(url), { method: 'POST', headers, body, redirect: 'error' });
    } catch (error) {
      this.#server.lost(url);
      throw unreachable(`no server answers at ${url} (${reasonOf(error)}); start it with: patchboard serve`);
    }
  }

  /** Lists the tools if a client calls one that it has not listed through this process. */
  async #knowTool(message) {
    if (this.#hasListed || this.#paramHeaders.has(message.params?.name)) return;
    await this.#listTools(message);
  }

  async #listTools({ params }) {
    this.#hasListed = true;
    const meta = Object.entries(params._meta).filter(([key]) => key.startsWith('io.modelcontextprotocol/'));
    const _meta = Object.fromEntries(meta);
    const headers = { 'mcp-protocol-version': headerValue(_meta[VERSION_KEY]), 'mcp-method': 'tools/list' };
    let cursor;
    do {
      const page = cursor === undefined ? { _meta } : { _meta, cursor };
      const { message } = await this.#request('tools/list', page, null, headers);
      for (const [name, found] of paramHeadersOf(message?.result?.tools)) this.#paramHeaders.set(name, found);
      cursor = message?.result?.nextCursor;
    } while (typeof cursor === 'string');
  }
}

/** What one client has open at the server, with what is needed to open it again. */
class Session {
  controller = new AbortController();
  hadStream = false;
  /** Requests that changed the session: its log level and subscriptions. */
  remembered = new Map();

  constructor(params, id, version) {
    this.params = params;
    this.id = id;
    this.version = version;
  }

  remember({ method, params }) {
    if (method === 'logging/setLevel') this.remembered.set(method, { method, params });
    if (method === 'resources/subscribe') this.remembered.set(`uri ${params?.uri}`, { method, params });
    if (method === 'resources/unsubscribe') this.remembered.delete(`uri ${params?.uri}`);
  }
}

function isRequest(message) {
  return typeof message?.method === 'string' && message.id !== undefined && message.id !== null;
}

function lostConnection(url, error) {
  return new RequestError(
    'connection_lost',
    'unknown',
    `the connection to ${url} ended before the response (${reasonOf(error)}). The request may have run: ` +
      'look for it with patchboard calls ls before you repeat it',
  );
}

/** Returns the JSON-RPC error for a response that is none, or that has no id because the request was not read. */
function refusalOf({ status, url }, message) {
  const given = message?.error;
  const detail = given?.message ?? message?.detail ?? message?.title ?? 'the body is not a JSON-RPC response';
  const advice =
    status === 401
      ? '; set PATCHBOARD_KEY in the configuration of this MCP client to the key of an agent'
      : '';
  const hint =
    status === 404 && given === undefined
      ? `; ${url ?? 'the server'} is not the /mcp of a Patchboard server`
      : '';
  return {
    code: given?.code ?? -32603,
    message: `${detail}${advice}${hint}`,
    data: given?.data ?? { status },
  };
}

// ---------------------------------------------------------------------------------------------- start

/** Runs the bridge until stdin ends; the process exits then. */
export async function main(argv) {
  // Node 18 warns that fetch is experimental.
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = (warning, ...rest) => {
    if (rest[0] !== 'ExperimentalWarning' && rest[0]?.type !== 'ExperimentalWarning')
      emitWarning(warning, ...rest);
  };
  try {
    const options = optionsFrom(argv, process.env);
    if (options.help === true) process.stdout.write(USAGE);
    else await new Bridge(options).run();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`patchboard: ${error.message}\n(add --help for help)\n`);
    process.exitCode = 2;
  }
}

if (process.argv[1] !== undefined && existsSync(process.argv[1]) && realpathSync(process.argv[1]) === SELF)
  await main(process.argv.slice(2));
