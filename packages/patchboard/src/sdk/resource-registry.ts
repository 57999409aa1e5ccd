import { reason } from '@patchboard/wire';
import { failure } from '../core/failures.ts';
import type {
  Prompt,
  Resource,
  ResourceFollower,
  ResourceKeys,
  ResourceSet,
  ResourceSource,
  ResourceTemplate,
} from '../core/resources/resource.ts';
import { BoardError } from './board-error.ts';

/**
 * A set of resources, resource templates and prompts that packs and boards are made from. Changes apply to all of them at
 * once, and are reported as `resources.changed` and `prompts.changed`. A member that any of them refuses is not added.
 */
export class ResourceRegistry implements ResourceSource {
  readonly #resources: Map<string, Resource> = new Map();
  readonly #templates: Map<string, ResourceTemplate> = new Map();
  readonly #prompts: Map<string, Prompt> = new Map();
  readonly #followers: Set<ResourceFollower> = new Set();

  constructor(set: ResourceSet = {}) {
    this.add(set);
  }

  /** Adds all members or none. Throws `BoardError`: `name_invalid`, `name_taken`, `schema_invalid` or `too_large`. */
  add(set: ResourceSet): void {
    const { resources = [], resourceTemplates = [], prompts = [] } = set;
    refuseTwice(resources, ({ uri }) => uri, this.#resources);
    refuseTwice(resourceTemplates, ({ uriTemplate }) => uriTemplate, this.#templates);
    refuseTwice(prompts, ({ name }) => name, this.#prompts);
    for (const follower of this.#followers) refuseFor(follower, set);
    for (const resource of resources) this.#resources.set(resource.uri, resource);
    for (const template of resourceTemplates) this.#templates.set(template.uriTemplate, template);
    for (const prompt of prompts) this.#prompts.set(prompt.name, prompt);
    for (const follower of this.#followers) follower.added(set);
  }

  addResource(resource: Resource): void {
    this.add({ resources: [resource] });
  }

  addResourceTemplate(template: ResourceTemplate): void {
    this.add({ resourceTemplates: [template] });
  }

  addPrompt(prompt: Prompt): void {
    this.add({ prompts: [prompt] });
  }

  /** Removes the members with these URIs, URI templates and names, and returns those that were there. */
  remove(keys: ResourceKeys): Required<ResourceKeys> {
    const removed = {
      resources: (keys.resources ?? []).filter((uri) => this.#resources.delete(uri)),
      resourceTemplates: (keys.resourceTemplates ?? []).filter((text) => this.#templates.delete(text)),
      prompts: (keys.prompts ?? []).filter((name) => this.#prompts.delete(name)),
    };
    for (const follower of this.#followers) follower.removed(removed);
    return removed;
  }

  /** Reports that the contents under a URI changed. For a URI of a template only its watchers are called; no event names it. */
  updated(uri: string): void {
    for (const follower of this.#followers) follower.updated(uri);
  }

  /** Returns all members, in the order in which they were added. */
  list(): Required<ResourceSet> {
    return {
      resources: [...this.#resources.values()],
      resourceTemplates: [...this.#templates.values()],
      prompts: [...this.#prompts.values()],
    };
  }

  /** @internal For boards and packs: reports the current members and every later change to the follower. */
  follow(follower: ResourceFollower): () => void {
    const set = this.list();
    refuseFor(follower, set);
    follower.added(set);
    this.#followers.add(follower);
    return () => {
      this.#followers.delete(follower);
    };
  }
}

function refuseTwice<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  present: ReadonlyMap<string, Item>,
): void {
  const seen = new Set<string>();
  for (const key of items.map(keyOf)) {
    if (seen.has(key) || present.has(key))
      throw new BoardError(failure('name_taken', reason('resource_registered_twice', { key })));
    seen.add(key);
  }
}

function refuseFor(follower: ResourceFollower, set: ResourceSet): void {
  const problem = follower.problemWith(set);
  if (problem !== null) throw new BoardError(problem);
}
