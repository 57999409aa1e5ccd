import { reason } from '@patchboard/wire';
import type { Principal } from '../access/principal.ts';
import type { RateLimits } from '../access/rate-limits.ts';
import type { TenantDirectory } from '../access/tenant-directory.ts';
import type { InputChecks } from '../call/input-checks.ts';
import { offeredProblem } from '../call/offered-inputs.ts';
import { failure, type Failure } from '../failures.ts';
import type { EventFeed } from '../ledger/events.ts';
import type { Limits } from '../limits.ts';
import type { Clock, Page } from '../ports.ts';
import type { Result } from '../result.ts';
import type { Signals } from '../signals.ts';
import { completion, type CompletedArgument, type Completion, type CompletionRequest } from './completion.ts';
import { contentsBytes, contentsOf, messagesOf, type Contents, type PromptMessages } from './contents.ts';
import { PackReads } from './pack-reads.ts';
import { argumentIssues } from './prompt-arguments.ts';
import { PromptInputRequired, promptWithInput, type PromptInput } from './prompt-inputs.ts';
import { ResourceChanges } from './resource-changes.ts';
import type {
  Prompt,
  Resource,
  ResourceKeys,
  ResourceSet,
  ResourceSource,
  ResourceTemplate,
} from './resource.ts';
import { ResourceIndex, type FoundResource } from './resource-index.ts';
import { isResourceUri } from './resource-rules.ts';
import type { Entry, ResourceSupply, Scoped } from './sorted-entries.ts';

export interface ResourcesParts {
  readonly clock: Clock;
  readonly limits: Limits;
  readonly rates: RateLimits;
  readonly tenants: TenantDirectory;
  readonly feed: EventFeed;
  readonly checks: InputChecks;
  readonly signals: Signals;
}

/** The topic of signals about resources whose contents changed. */
const UPDATED = 'resource_updated';

/**
 * Resources, resource templates and prompts of the packs. What a principal may not see does not exist for it. Reads are no
 * calls: they are not recorded.
 */
export class Resources {
  readonly #parts: ResourcesParts;
  readonly #index: ResourceIndex;
  readonly #reads: PackReads;
  readonly #changes: ResourceChanges;
  readonly #sources: Set<() => void> = new Set();

  constructor(parts: ResourcesParts) {
    this.#parts = parts;
    this.#index = new ResourceIndex(parts.tenants, parts.limits);
    this.#reads = new PackReads(parts);
    this.#changes = new ResourceChanges({ ...parts, index: this.#index });
    parts.tenants.onReplaced((tenant) => this.#changes.tenant(tenant));
    parts.signals.on(UPDATED, (uri) => {
      if (typeof uri === 'string') this.#changes.updated(uri);
    });
  }

  /** Adds all members or none. Returns why not, or null. */
  add(set: ResourceSet, supply: ResourceSupply): Failure | null {
    const problem = this.#index.problemWith(set, supply);
    if (problem !== null) return problem;
    this.#index.add(set, supply);
    const { resources = [], resourceTemplates = [], prompts = [] } = set;
    const readable = [...resources.map(({ uri }) => uri), ...resourceTemplates.map((one) => one.uriTemplate)];
    this.#changes.listed(
      'resources.changed',
      'added',
      entriesOf(readable, [...resources, ...resourceTemplates], supply),
    );
    this.#changes.listed(
      'prompts.changed',
      'added',
      entriesOf(
        prompts.map(({ name }) => name),
        prompts,
        supply,
      ),
    );
    return null;
  }

  remove(keys: ResourceKeys): void {
    const { resources, prompts } = this.#index.remove(keys);
    this.#changes.listed('resources.changed', 'removed', resources);
    this.#changes.listed('prompts.changed', 'removed', prompts);
  }

  /** Mirrors the source until `close`. Throws if one of its present members is refused: that is a bug of the pack. */
  follow(source: ResourceSource, supply: ResourceSupply): void {
    const stop = source.follow({
      problemWith: (set) => this.#index.problemWith(set, supply),
      added: (set) => {
        const problem = this.add(set, supply);
        if (problem !== null) throw new Error(problem.message);
      },
      removed: (keys) => this.remove(keys),
      updated: (uri) => this.notifyUpdated(uri),
    });
    this.#sources.add(stop);
  }

  close(): void {
    for (const stop of this.#sources) stop();
    this.#sources.clear();
  }

  /** Reports that the contents under a URI changed, to event streams and watchers, of other nodes too. */
  notifyUpdated(uri: string): void {
    this.#changes.updated(uri);
    this.#parts.signals.send(UPDATED, uri);
  }

  /** Ordered by URI. */
  list(principal: Principal, cursor: string | null, limit: number): Page<Resource> {
    return itemsOf(this.#index.page(this.#index.resources, principal, cursor, limit));
  }

  /** Ordered by template. */
  templates(principal: Principal, cursor: string | null, limit: number): Page<ResourceTemplate> {
    return itemsOf(this.#index.page(this.#index.templates, principal, cursor, limit));
  }

  /** Ordered by name. */
  prompts(principal: Principal, cursor: string | null, limit: number): Page<Prompt> {
    return itemsOf(this.#index.page(this.#index.prompts, principal, cursor, limit));
  }

  async read(principal: Principal, uri: string, signal?: AbortSignal): Promise<Result<readonly Contents[]>> {
    const found = this.#find(principal, uri);
    if (found === null) return { ok: false, failure: unknownResource(uri) };
    const { item, isOwn = false } = entryOf(found);
    const given = await this.#reads.run(principal, signal, (context) =>
      'resource' in found
        ? found.resource.item.read(context)
        : found.template.item.read(found.variables, context),
    );
    if (!given.ok) return given;
    if (given.value === null || given.value === undefined)
      return { ok: false, failure: unknownResource(uri) };
    const contents = contentsOf(given.value, { uri, mimeType: item.mimeType });
    if (contents === null)
      return { ok: false, failure: failure('resource_failed', reason('resource_contents_invalid')) };
    return this.#within(contents, isOwn ? 0 : contentsBytes(contents));
  }

  /** Returns the messages of a prompt to a caller that cannot give input. */
  async prompt(
    principal: Principal,
    name: string,
    args: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<Result<PromptMessages>> {
    const given = await this.promptOrInput(principal, name, args, { acceptsInput: false }, signal);
    if (!given.ok) return given;
    const { value } = given;
    return value instanceof PromptInputRequired
      ? { ok: false, failure: failure('input_unavailable') }
      : { ok: true, value };
  }

  /** Returns the messages of a prompt, or what it needs from the caller to make them. */
  async promptOrInput(
    principal: Principal,
    name: string,
    args: Readonly<Record<string, string>>,
    input: PromptInput,
    signal?: AbortSignal,
  ): Promise<Result<PromptMessages | PromptInputRequired>> {
    const entry = this.#promptOf(principal, name);
    if (entry === null) return { ok: false, failure: unknownPrompt(name) };
    const problem = argumentIssues(entry.item, args) ?? offeredProblem(input.inputs);
    if (problem !== null) return { ok: false, failure: problem };
    const given = await this.#reads.run(principal, signal, (context) =>
      promptWithInput(this.#parts.checks, entry.item, args, { ...input, context }),
    );
    if (!given.ok) return given;
    if (given.value instanceof PromptInputRequired) return { ok: true, value: given.value };
    const messages = messagesOf(given.value);
    if (messages === null)
      return { ok: false, failure: failure('resource_failed', reason('prompt_messages_invalid')) };
    return this.#within(messages, entry.isOwn === true ? 0 : JSON.stringify(messages).length);
  }

  /** Suggests values for an argument of a prompt or a variable of a template. */
  async complete(
    principal: Principal,
    request: CompletionRequest,
    signal?: AbortSignal,
  ): Promise<Result<Completion>> {
    const argument = this.#argumentOf(principal, request);
    if ('code' in argument) return { ok: false, failure: argument };
    return await completion(this.#reads, principal, signal, { argument, request });
  }

  /** Null if the principal sees a resource or a template of the URI, whose contents may still be missing. */
  unknown(principal: Principal, uri: string): Failure | null {
    return this.#find(principal, uri) === null ? unknownResource(uri) : null;
  }

  /**
   * Calls `updated` when the contents under the URI change, until the returned function is called. Returns a failure if the
   * principal sees no such resource.
   */
  watch(principal: Principal, uri: string, updated: () => void): Result<() => void> {
    const found = this.#find(principal, uri);
    if (found === null) return { ok: false, failure: unknownResource(uri) };
    // Visibility may have changed since.
    const guarded = (): void => {
      if (this.#index.find(principal, uri) !== null) updated();
    };
    const stop =
      'template' in found ? found.template.item.watch?.(found.variables, { principal }, guarded) : undefined;
    const forget = this.#changes.watch(uri, guarded);
    return {
      ok: true,
      value: () => {
        forget();
        stop?.();
      },
    };
  }

  #within<Value>(value: Value, bytes: number): Result<Value> {
    const { resourceBytes } = this.#parts.limits;
    if (bytes <= resourceBytes) return { ok: true, value };
    const why = reason('resource_over_limit', { bytes: resourceBytes });
    return { ok: false, failure: failure('result_too_large', why) };
  }

  #find(principal: Principal, uri: string): FoundResource | null {
    return isResourceUri(uri) ? this.#index.find(principal, uri) : null;
  }

  #promptOf(principal: Principal, name: string): Entry<Prompt> | null {
    const entry = this.#index.prompts.get(name);
    return entry !== undefined && this.#index.sees(principal, entry) ? entry : null;
  }

  #argumentOf(principal: Principal, { of, name }: CompletionRequest): CompletedArgument | Failure {
    if ('prompt' in of) {
      const entry = this.#promptOf(principal, of.prompt);
      if (entry === null) return unknownPrompt(of.prompt);
      const known = entry.item.arguments ?? [];
      const argument = known.find((one) => one.name === name);
      return { known: known.map((one) => one.name), complete: argument?.complete };
    }
    const entry = this.#index.templates.get(of.resourceTemplate);
    if (entry === undefined || !this.#index.sees(principal, entry))
      return failure(
        'resource_not_found',
        reason('resource_template_unknown', { template: shown(of.resourceTemplate) }),
      );
    const completers = entry.item.complete ?? {};
    const complete = Object.hasOwn(completers, name) ? completers[name] : undefined;
    return { known: entry.template.variables, complete };
  }
}

function entriesOf<Item extends Scoped>(
  keys: readonly string[],
  items: readonly Item[],
  supply: ResourceSupply,
): Entry<Item>[] {
  return items.map((item, index) => ({ ...supply, key: keys[index] ?? '', item }));
}

function entryOf(found: FoundResource): Entry<Resource | ResourceTemplate> {
  return 'resource' in found ? found.resource : found.template;
}

function itemsOf<Item extends Scoped>({ items, nextCursor }: Page<Entry<Item>>): Page<Item> {
  return { items: items.map(({ item }) => item), nextCursor };
}

function unknownResource(uri: string): Failure {
  return failure('resource_not_found', reason('resource_unknown', { uri: shown(uri) }));
}

function unknownPrompt(name: string): Failure {
  return failure('prompt_not_found', reason('prompt_unknown', { name: shown(name) }));
}

/** A URI or name from a request, as an error repeats it. */
function shown(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}
