import { failure, foreignText, type Failure } from '../core/failures.ts';
import type { Upstream, UpstreamReload, UpstreamReloader } from '../core/upstreams/upstream.ts';
import type { ConfigureTool } from '../core/upstreams/upstream-tools.ts';
import type { UpstreamService } from '../core/upstreams/upstream-service.ts';
import { ConfigError } from '../settings/config-file.ts';
import {
  allUpstreams,
  type AnyUpstreamSettings,
  type UpstreamsSettings,
} from '../settings/read-upstreams.ts';

export interface UpstreamSetParts {
  readonly service: UpstreamService;
  readonly configure: ConfigureTool;
  /** Builds an upstream that is not connected yet. Throws a `ConfigError`. */
  readonly make: (settings: AnyUpstreamSettings) => Promise<Upstream>;
  /** Reads and checks the configured upstreams. Throws a `ConfigError`. */
  readonly read: () => UpstreamsSettings;
  /** Called with the secret values of new settings, before they are used. */
  readonly addSecrets: (values: readonly string[]) => void;
}

/** The configured upstreams of a server: adds them to the engine, and applies changes of the configuration. */
export class UpstreamSet implements UpstreamReloader {
  readonly #parts: UpstreamSetParts;
  /** The settings in force, by name, as JSON. */
  readonly #inForce: Map<string, string> = new Map();
  /** The last reload: reloads run one after the other. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: UpstreamSetParts) {
    this.#parts = parts;
  }

  /** Adds the upstreams that the server starts with. Throws a `ConfigError`. */
  async open(settings: UpstreamsSettings): Promise<void> {
    this.#parts.addSecrets(settings.secretValues);
    for (const one of allUpstreams(settings)) await this.#add(one);
  }

  async reload(): Promise<UpstreamReload | Failure> {
    const turn = this.#turn.then(async () => await this.#reload());
    this.#turn = turn.catch(() => undefined);
    return await turn;
  }

  async #reload(): Promise<UpstreamReload | Failure> {
    try {
      const settings = this.#parts.read();
      const wanted = new Map(allUpstreams(settings).map((one) => [one.name, one]));
      const made = await this.#makeChanged(settings, [...wanted.values()]);
      const removed = [...this.#inForce.keys()].filter((name) => !wanted.has(name));
      const restarted = [...made.keys()].filter((name) => this.#inForce.has(name));
      for (const name of [...removed, ...restarted]) await this.#remove(name);
      for (const [name, upstream] of made) this.#use(upstream, JSON.stringify(wanted.get(name)));
      return { added: [...made.keys()].filter((name) => !restarted.includes(name)), removed, restarted };
    } catch (error) {
      if (error instanceof ConfigError) return failure('conflict', foreignText(error.message));
      throw error;
    }
  }

  /** Builds all before one is used: if a setting is invalid, nothing changes. */
  async #makeChanged(
    { secretValues }: UpstreamsSettings,
    wanted: readonly AnyUpstreamSettings[],
  ): Promise<Map<string, Upstream>> {
    this.#parts.addSecrets(secretValues);
    const made = new Map<string, Upstream>();
    for (const settings of wanted) {
      const { name } = settings;
      if (this.#inForce.get(name) !== JSON.stringify(settings))
        made.set(name, await this.#parts.make(settings));
    }
    return made;
  }

  async #add(settings: AnyUpstreamSettings): Promise<void> {
    this.#use(await this.#parts.make(settings), JSON.stringify(settings));
  }

  #use(upstream: Upstream, settingsJson: string): void {
    this.#parts.service.add(upstream, this.#parts.configure);
    this.#inForce.set(upstream.settings.name, settingsJson);
  }

  async #remove(name: string): Promise<void> {
    this.#inForce.delete(name);
    await this.#parts.service.remove(name);
  }
}
