import type {
  PromptMessagesView,
  PromptSummaryView,
  ResourceContentsView,
  ResourceTemplateView,
  ResourceView,
} from '@patchboard/wire';
import type { Contents, PromptMessages } from '../../../core/resources/contents.ts';
import type { Prompt, Resource, ResourceTemplate } from '../../../core/resources/resource.ts';

export function resourceView(resource: Resource): ResourceView {
  const { uri, size } = resource;
  return { uri, ...describedView(resource), ...readableView(resource), ...given({ size }) };
}

export function templateView(template: ResourceTemplate): ResourceTemplateView {
  return { uri_template: template.uriTemplate, ...describedView(template), ...readableView(template) };
}

export function promptSummaryView(prompt: Prompt): PromptSummaryView {
  const args = (prompt.arguments ?? []).map((argument) => ({
    ...describedView(argument),
    required: argument.required === true,
  }));
  return { ...describedView(prompt), arguments: args };
}

export function contentsView(contents: readonly Contents[]): ResourceContentsView {
  return {
    contents: contents.map(({ uri, mimeType, text, blob }) => ({
      uri,
      ...given({ mime_type: mimeType, text, blob }),
    })),
  };
}

export function messagesView({ description, messages }: PromptMessages): PromptMessagesView {
  return { ...given({ description }), messages };
}

type Described = Pick<Resource, 'name' | 'title' | 'description'>;

function describedView({ name, title, description }: Described): Described {
  return { name, ...given({ title, description }) };
}

function readableView({
  mimeType,
  annotations,
}: Pick<Resource, 'mimeType' | 'annotations'>): Pick<ResourceView, 'mime_type' | 'annotations'> {
  const { audience, priority, lastModified } = annotations ?? {};
  const view = given({ audience, priority, last_modified: lastModified });
  return given({ mime_type: mimeType, annotations: annotations === undefined ? undefined : view });
}

type Given<Members> = { [Name in keyof Members]?: Exclude<Members[Name], undefined> };

/** Leaves out the members that are undefined. */
function given<Members extends Record<string, unknown>>(members: Members): Given<Members> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as Given<Members>;
}
