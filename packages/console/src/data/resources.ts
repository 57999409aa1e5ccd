import { useQuery } from '@tanstack/vue-query';
import {
  parseUriTemplate,
  type ResourceContentView,
  type ResourceTemplateView,
  type ResourceView,
  type PromptSummaryView,
  type ResultBlock,
} from '@patchboard/wire';
import { toValue, type MaybeRefOrGetter } from 'vue';
import { client } from './connection.ts';
import { keyOf, type QueryResult } from './queries.ts';

/** A resource, a resource template or a prompt. */
export interface ResourceEntry {
  /** Unique over all kinds. */
  readonly id: string;
  readonly kind: 'resource' | 'template' | 'prompt';
  /** The URI, the URI template or the name. */
  readonly key: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
  readonly fields: readonly ResourceField[];
}

/** A variable of a template or an argument of a prompt. */
interface ResourceField {
  readonly name: string;
  readonly description: string;
  readonly isRequired: boolean;
}

export function useResourceEntries(): QueryResult<readonly ResourceEntry[]> {
  return useQuery({
    queryKey: keyOf('resources'),
    queryFn: async ({ signal }) => {
      const { resources } = client.value;
      const options = { limit: 200, signal };
      const entries: ResourceEntry[] = [];
      for await (const one of resources.list(options)) entries.push(resourceEntry(one));
      for await (const one of resources.templates(options)) entries.push(templateEntry(one));
      for await (const one of resources.prompts(options)) entries.push(promptEntry(one));
      return entries;
    },
  });
}

/** The values of the fields; null: nothing is requested yet. */
export type FieldValues = Readonly<Record<string, string>> | null;

/** The contents of a resource, or the messages of a prompt. */
export function useReading(
  entry: MaybeRefOrGetter<ResourceEntry>,
  values: MaybeRefOrGetter<FieldValues>,
): QueryResult<readonly Reading[]> {
  return useQuery({
    queryKey: keyOf('resource-read', () => toValue(entry).id, values),
    queryFn: ({ signal }) => read(toValue(entry), toValue(values) ?? {}, signal),
    enabled: () => toValue(values) !== null,
  });
}

export interface Reading {
  /** Of a message. */
  readonly role: 'user' | 'assistant' | null;
  readonly block: ResultBlock;
}

async function read(
  { kind, key }: ResourceEntry,
  values: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<readonly Reading[]> {
  const { resources } = client.value;
  if (kind === 'prompt') {
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
    const { messages } = await resources.prompt(key, given, { signal });
    return messages.map(({ role, content }) => ({ role, block: content }));
  }
  const uri = kind === 'template' ? (parseUriTemplate(key)?.expand(values) ?? key) : key;
  const contents = await resources.read(uri, { signal });
  return contents.map((content) => ({ role: null, block: blockOf(content) }));
}

function blockOf({ uri, mime_type: mimeType, text, blob }: ResourceContentView): ResultBlock {
  if (blob !== undefined && mimeType?.startsWith('image/') === true)
    return { type: 'image', data: blob, mimeType };
  const contents = blob === undefined ? { text: text ?? '' } : { blob };
  return {
    type: 'resource',
    resource: { uri, ...(mimeType === undefined ? {} : { mimeType }), ...contents },
  };
}

/** Returns suggestions; none if the server has none or the request fails. */
export async function suggestions(
  { kind, key }: ResourceEntry,
  name: string,
  value: string,
): Promise<readonly string[]> {
  const of = kind === 'prompt' ? { prompt: key } : { uriTemplate: key };
  try {
    return (await client.value.resources.complete({ of, name, value })).values;
  } catch {
    // The field can be filled in without them.
    return [];
  }
}

function resourceEntry({ uri, name, title, description, mime_type: type }: ResourceView): ResourceEntry {
  return { ...entry('resource', uri, title ?? name, description), mimeType: type ?? '' };
}

function templateEntry(template: ResourceTemplateView): ResourceEntry {
  const { uri_template: key, name, title, description, mime_type: type } = template;
  const fields = (parseUriTemplate(key)?.variables ?? []).map((variable) => ({
    name: variable,
    description: '',
    isRequired: true,
  }));
  return { ...entry('template', key, title ?? name, description), mimeType: type ?? '', fields };
}

function promptEntry({ name, title, description, arguments: args }: PromptSummaryView): ResourceEntry {
  const fields = args.map((argument) => ({
    name: argument.name,
    description: argument.description ?? '',
    isRequired: argument.required,
  }));
  return { ...entry('prompt', name, title ?? name, description), fields };
}

function entry(kind: ResourceEntry['kind'], key: string, title: string, description = ''): ResourceEntry {
  return { id: `${kind} ${key}`, kind, key, title, description, mimeType: '', fields: [] };
}
