import type { Completion, CompletionRequest } from '../core/resources/completion.ts';
import type { Contents, PromptMessages } from '../core/resources/contents.ts';
import type { Prompt, Resource, ResourceTemplate } from '../core/resources/resource.ts';
import type { Resources } from '../core/resources/resources.ts';
import type { Page } from '../core/ports.ts';
import type { Result } from '../core/result.ts';
import type { Principal } from '../core/access/principal.ts';
import { BoardError } from '../sdk/board-error.ts';
import type { ResourceRegistry } from '../sdk/resource-registry.ts';
import { embeddedPrincipal } from '../wiring/engine-context.ts';

export interface ReadOptions {
  /** The agent that reads. Default: `embedded`. */
  readonly agentId?: string;
  /** Stops waiting when aborted. */
  readonly signal?: AbortSignal;
}

/** The resources, resource templates and prompts of a board. Reads are no calls: nothing is recorded. */
export interface BoardResources {
  /** Later changes apply at once. */
  readonly registry: ResourceRegistry;
  /** Returns the resources in order of their URIs. */
  list(options?: Pick<ReadOptions, 'agentId'>): readonly Resource[];
  templates(options?: Pick<ReadOptions, 'agentId'>): readonly ResourceTemplate[];
  prompts(options?: Pick<ReadOptions, 'agentId'>): readonly Prompt[];
  /** Throws `BoardError`, for example `resource_not_found`. */
  read(uri: string, options?: ReadOptions): Promise<readonly Contents[]>;
  /** Returns the messages of a prompt. Throws `BoardError`, for example `prompt_not_found` or `input_invalid`. */
  prompt(
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: ReadOptions,
  ): Promise<PromptMessages>;
  /** Suggests values for an argument of a prompt or a variable of a template. */
  complete(request: CompletionRequest, options?: ReadOptions): Promise<Completion>;
  /** Calls `updated` when the contents under the URI change, until the returned function is called. */
  watch(uri: string, updated: () => void, options?: Pick<ReadOptions, 'agentId'>): () => void;
}

export function boardResources(resources: Resources, registry: ResourceRegistry): BoardResources {
  const as = ({ agentId }: ReadOptions = {}): Principal => embeddedPrincipal(agentId);
  return {
    registry,
    list: (options) => allOf((cursor) => resources.list(as(options), cursor, PAGE)),
    templates: (options) => allOf((cursor) => resources.templates(as(options), cursor, PAGE)),
    prompts: (options) => allOf((cursor) => resources.prompts(as(options), cursor, PAGE)),
    read: async (uri, options) => valueOf(await resources.read(as(options), uri, options?.signal)),
    prompt: async (name, args = {}, options) =>
      valueOf(await resources.prompt(as(options), name, args, options?.signal)),
    complete: async (request, options) =>
      valueOf(await resources.complete(as(options), request, options?.signal)),
    watch: (uri, updated, options) => valueOf(resources.watch(as(options), uri, updated)),
  };
}

const PAGE = 1000;

function allOf<Item>(page: (cursor: string | null) => Page<Item>): readonly Item[] {
  const all: Item[] = [];
  let cursor: string | null = null;
  do {
    const next: Page<Item> = page(cursor);
    all.push(...next.items);
    cursor = next.nextCursor;
  } while (cursor !== null);
  return all;
}

function valueOf<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new BoardError(result.failure);
  return result.value;
}
