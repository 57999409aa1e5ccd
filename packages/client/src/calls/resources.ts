import type {
  CompletionView,
  PromptMessagesView,
  PromptSummaryView,
  ResourceContentsView,
  ResourceContentView,
  ResourceTemplateView,
  ResourceView,
} from '@patchboard/wire';
import {
  anything,
  boolean,
  listOf,
  number,
  object,
  optional,
  string,
  withDefault,
  word,
  type Decoder,
} from '../decode/decode.ts';
import { boundsOf, request, withQuery, type HttpRequest, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';
import { pages, type Pages } from '../http/pages.ts';

export interface ResourcesFilter extends RequestOptions {
  /** Rows per page. Default 50, at most 200. */
  readonly limit?: number;
}

export interface CompletionQuestion {
  /** The name of a prompt, or a resource template. */
  readonly of: { readonly prompt: string } | { readonly uriTemplate: string };
  /** The argument or variable. */
  readonly name: string;
  /** What was typed so far. */
  readonly value: string;
  /** The other values as far as they are known. */
  readonly arguments?: Readonly<Record<string, string>>;
}

/** Data and prompts of the server's packs. Reading them makes no call. */
export interface Resources {
  /** Ordered by URI. */
  list(filter?: ResourcesFilter): Pages<ResourceView>;
  /** URIs with variables, `notes://{page}`. */
  templates(filter?: ResourcesFilter): Pages<ResourceTemplateView>;
  /** Throws `resource_not_found` if no resource or template has the URI. */
  read(uri: string, options?: RequestOptions): Promise<readonly ResourceContentView[]>;
  /** Ordered by name. */
  prompts(filter?: ResourcesFilter): Pages<PromptSummaryView>;
  /** Returns the messages of a prompt. Throws `input_invalid` if an argument is missing or unknown. */
  prompt(
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: RequestOptions,
  ): Promise<PromptMessagesView>;
  /** Suggests values for an argument of a prompt or a variable of a template. */
  complete(question: CompletionQuestion, options?: RequestOptions): Promise<CompletionView>;
}

const described = {
  name: string,
  title: optional(string),
  description: optional(string),
};

const readable = {
  ...described,
  mime_type: optional(string),
  annotations: optional(
    object<NonNullable<ResourceView['annotations']>>({
      audience: optional(listOf(word<'user' | 'assistant'>())),
      priority: optional(number),
      last_modified: optional(string),
    }),
  ),
};

const decodeResource: Decoder<ResourceView> = object<ResourceView>({
  uri: string,
  size: optional(number),
  ...readable,
});

const decodeTemplate: Decoder<ResourceTemplateView> = object<ResourceTemplateView>({
  uri_template: string,
  ...readable,
});

const decodeContents: Decoder<ResourceContentsView> = object<ResourceContentsView>({
  contents: listOf(
    object<ResourceContentView>({
      uri: string,
      mime_type: optional(string),
      text: optional(string),
      blob: optional(string),
    }),
  ),
});

const decodePrompt: Decoder<PromptSummaryView> = object<PromptSummaryView>({
  ...described,
  arguments: listOf(
    object<PromptSummaryView['arguments'][number]>({ ...described, required: withDefault(boolean, false) }),
  ),
});

const decodeMessages: Decoder<PromptMessagesView> = object<PromptMessagesView>({
  description: optional(string),
  messages: listOf(
    object<PromptMessagesView['messages'][number]>({
      role: word<'user' | 'assistant'>(),
      content: anything as Decoder<PromptMessagesView['messages'][number]['content']>,
    }),
  ),
});

const decodeCompletion: Decoder<CompletionView> = object<CompletionView>({
  values: listOf(string),
  total: number,
  has_more: boolean,
});

export function resources(settings: Settings): Resources {
  const list = <T>(path: string, plural: string, decode: Decoder<T>, filter: ResourcesFilter): Pages<T> =>
    pages(settings, { path, plural, query: { limit: filter.limit }, decode }, filter);
  const post = (path: string, body: unknown): HttpRequest => ({ method: 'POST', path, body, repeat: 'safe' });
  return {
    list: (filter = {}) => list('/v1/resources', 'resources', decodeResource, filter),
    templates: (filter = {}) => list('/v1/resources/templates', 'resource_templates', decodeTemplate, filter),
    read: async (uri, given = {}) => {
      const path = withQuery('/v1/resources/read', { uri });
      const what: HttpRequest = { method: 'GET', path, repeat: 'safe' };
      return (await request(settings, what, decodeContents, boundsOf(given))).contents;
    },
    prompts: (filter = {}) => list('/v1/prompts', 'prompts', decodePrompt, filter),
    prompt: (name, args = {}, given = {}) => {
      const what = post(`/v1/prompts/${encodeURIComponent(name)}`, { arguments: args });
      return request(settings, what, decodeMessages, boundsOf(given));
    },
    complete: ({ of, name, value, arguments: others = {} }, given = {}) => {
      const target = 'prompt' in of ? { prompt: of.prompt } : { uri_template: of.uriTemplate };
      const what = post('/v1/complete', { ...target, name, value, arguments: others });
      return request(settings, what, decodeCompletion, boundsOf(given));
    },
  };
}
