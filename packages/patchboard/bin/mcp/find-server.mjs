import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { unreachable } from './request-error.mjs';
import { isAlive, isPatchboard, readServerFile } from './server-file.mjs';
import { NODE_OF_SERVER, nodeForServer, StartedServer } from './start-server.mjs';
import { note } from './stderr.mjs';

/** How long to wait for a server that starts or stops on the data folder. */
const TAKEOVER_MS = 10_000;

/**
 * Finds the server: the given URL, the server of the data folder, or the default URL. If none responds, starts one that
 * ends with this process.
 */
export class ServerFinder {
  #options;
  /** @type {string | null} */
  #url = null;
  /** @type {Promise<string> | null} */
  #finding = null;
  /** Whether the server in use ends with a bridge, so that another may be started after it. */
  #isTemporary = true;
  /** @type {StartedServer | null} */
  #started = null;
  /** @type {string | null} */
  #startProblem = null;

  /** @param {import('./options.mjs').Options} options */
  constructor(options) {
    this.#options = options;
  }

  /** Resolves to the base URL. Rejects with a `RequestError` if no server responds. */
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

  /** Forgets a server that does not respond. Returns whether another may be found. */
  lost(url) {
    if (this.#url === url) this.#url = null;
    return this.#options.url === null;
  }

  /** Stops the server that this process started, if any. */
  async stop() {
    await this.#started?.stop();
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

  /** Waits while the process in `server.json` lives and does not respond: it is about to stop. */
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
    const { dataFolder, defaultUrl } = this.#options;
    if (this.#startProblem !== null) throw unreachable(this.#startProblem);
    const node = nodeForServer();
    if (node === null)
      throw this.#cannotStart(
        `no server responds at ${defaultUrl} or in ${dataFolder}, and none can be started here, which ` +
          `needs Node ${NODE_OF_SERVER} (this is ${process.version}); start it with: patchboard serve`,
      );
    note(`no server is running; starting one on the data folder ${dataFolder}, which ends with this process`);
    this.#started = new StartedServer(node, dataFolder);
    const ready = await this.#started.ready();
    if (ready.url !== null) {
      note(`the server listens at ${ready.url}`);
      this.#isTemporary = true;
      return ready.url;
    }
    const url = await this.#startedByAnother();
    if (url !== null) return url;
    throw this.#cannotStart(`no server responds, and none could be started: ${ready.problem}`);
  }

  /** Waits for a server that another bridge started at the same moment: the data folder has one owner. */
  async #startedByAnother() {
    const log = join(this.#options.dataFolder, 'patchboard.db-wal');
    for (let waitedMs = 0; waitedMs < TAKEOVER_MS; waitedMs += 100, await sleep(100)) {
      const url = await this.#fromServerFile();
      if (url !== null) return url;
      // A server that has the store open has a write-ahead log.
      if (waitedMs >= 1000 && !existsSync(log)) return null;
    }
    return null;
  }

  /** Keeps the problem for later requests, which do not try again. */
  #cannotStart(problem) {
    this.#startProblem = problem;
    note(problem);
    return unreachable(problem);
  }
}
