import type { InputKind, PromptMessageView, ResultBlock } from '@patchboard/wire';
import type { Principal } from '../access/principal.ts';
import type { Scope } from '../access/scopes.ts';
import type { InputRequired, InputResponse } from '../call/input.ts';
import type { Failure } from '../failures.ts';

/** Passed to a pack's functions beside their own arguments. */
export interface ResourceContext {
  /** Whose request it is: tenant, agent, scopes. */
  readonly principal: Principal;
  /** Aborted at the time limit, when the caller disconnects, and when the function has returned. */
  readonly signal: AbortSignal;
}

interface Described {
  readonly name: string;
  /** For people; default: the name. */
  readonly title?: string;
  readonly description?: string;
  /** The scope that a principal needs to see it. Default `calls:read`. */
  readonly scope?: Scope;
}

interface Readable extends Described {
  readonly mimeType?: string;
  readonly annotations?: {
    readonly audience?: readonly ('user' | 'assistant')[];
    /** 0 (optional) to 1 (required). */
    readonly priority?: number;
    /** RFC 3339. */
    readonly lastModified?: string;
  };
}

/** Text or bytes. `uri` and `mimeType` default to those of the resource. */
export type ResourceContent =
  | string
  | { readonly text: string; readonly uri?: string; readonly mimeType?: string }
  /** Base64. */
  | { readonly blob: string; readonly uri?: string; readonly mimeType?: string };

/** Null: there is no such resource for this principal. */
export type ReadResult = ResourceContent | readonly ResourceContent[] | null | undefined;

/** Data under a URI. */
export interface Resource extends Readable {
  readonly uri: string;
  /** Bytes of the contents, if known. */
  readonly size?: number;
  read(context: ResourceContext): ReadResult | Promise<ReadResult>;
}

/** A family of resources whose URIs are made from a template (RFC 6570, level 1: `notes://{folder}/{page}`). */
export interface ResourceTemplate extends Readable {
  readonly uriTemplate: string;
  /** `variables`: those of the template, decoded. */
  read(
    variables: Readonly<Record<string, string>>,
    context: ResourceContext,
  ): ReadResult | Promise<ReadResult>;
  /** Suggestions for the variables, by name. */
  readonly complete?: Readonly<Record<string, Completer>>;
  /**
   * Calls `updated` whenever the contents of one resource change, until the returned function is called. For contents that
   * change without an explicit notification.
   */
  watch?(
    variables: Readonly<Record<string, string>>,
    context: Pick<ResourceContext, 'principal'>,
    updated: () => void,
  ): () => void;
}

/** Returns the values that begin with, or otherwise fit, what was typed so far. */
export type Completer = (
  value: string,
  context: ResourceContext & {
    /** The other arguments or variables as far as they are known. */
    readonly arguments: Readonly<Record<string, string>>;
  },
) => readonly string[] | Promise<readonly string[]>;

export interface PromptArgument {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly complete?: Completer;
}

export interface PromptResult {
  readonly description?: string;
  readonly messages: readonly {
    readonly role: PromptMessageView['role'];
    /** A string is a text block. */
    readonly content: string | ResultBlock;
  }[];
}

/** Passed to a prompt beside its arguments. */
export interface PromptContext extends ResourceContext {
  /** The caller's responses to the requests that the prompt returned, by key. */
  readonly inputs: Readonly<Record<string, InputResponse>>;
  /** The kinds of input requests that the caller can respond to. Callers other than MCP clients: none. */
  readonly acceptsInputKinds: readonly InputKind[];
}

/** A string becomes one message of the user. */
type PromptReturn = string | PromptResult | InputRequired;

/** Messages for a model, made from arguments. */
export interface Prompt extends Described {
  readonly arguments?: readonly PromptArgument[];
  /**
   * Returns the messages, or `inputRequired(…)` to ask the caller: then it is called again with the responses. Nothing is
   * kept between two requests, so `carry` is ignored.
   */
  get(args: Readonly<Record<string, string>>, context: PromptContext): PromptReturn | Promise<PromptReturn>;
}

/** What a pack has beside its tools. */
export interface ResourceSet {
  readonly resources?: readonly Resource[];
  readonly resourceTemplates?: readonly ResourceTemplate[];
  readonly prompts?: readonly Prompt[];
}

/** Names members of a `ResourceSet`: URIs, URI templates, names. */
export interface ResourceKeys {
  readonly resources?: readonly string[];
  readonly resourceTemplates?: readonly string[];
  readonly prompts?: readonly string[];
}

/** An engine that mirrors a changing `ResourceSet`. */
export interface ResourceFollower {
  /** Returns why the members cannot be added, or null. */
  problemWith(set: ResourceSet): Failure | null;
  added(set: ResourceSet): void;
  removed(keys: ResourceKeys): void;
  /** The contents under this URI changed. */
  updated(uri: string): void;
}

/** Resources, templates and prompts that come and go. */
export interface ResourceSource {
  /** Passes the current members to `added`, then every change. The returned function stops it. */
  follow(follower: ResourceFollower): () => void;
}
