/** The member that marks a result as a content value. */
export const CONTENT_KEY = 'patchboard:content';

/** The beginning of every stored content value. */
const CONTENT_JSON = `{"${CONTENT_KEY}":`;

/** A result that holds text, pictures, audio, resources or links, and JSON beside them. */
export interface ContentValue {
  readonly [CONTENT_KEY]: readonly ResultBlock[];
  /** The JSON result. A tool's output schema applies to it. */
  readonly structured?: unknown;
}

/** A content block of the Model Context Protocol. Members that are not declared here are stored as they are. */
export type ResultBlock = TextResult | ImageResult | AudioResult | ResourceResult | LinkResult;

interface ResultBlockHints {
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

export interface TextResult extends ResultBlockHints {
  readonly type: 'text';
  readonly text: string;
}

export interface ImageResult extends ResultBlockHints {
  readonly type: 'image';
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
}

export interface AudioResult extends ResultBlockHints {
  readonly type: 'audio';
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
}

/** A resource with its contents: text, or `blob` in base64. */
export interface ResourceResult extends ResultBlockHints {
  readonly type: 'resource';
  readonly resource: {
    readonly uri: string;
    readonly mimeType?: string;
    readonly text?: string;
    readonly blob?: string;
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
}

export interface LinkResult extends ResultBlockHints {
  readonly type: 'resource_link';
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** In bytes. */
  readonly size?: number;
}

/**
 * Whether a stored result is a content value. Looks at the first member only: the server stores a content value with
 * its key first, so the cost does not depend on the size of the result.
 */
export function isContentValue(value: unknown): value is ContentValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  for (const key in value)
    return key === CONTENT_KEY && Array.isArray((value as Readonly<Record<string, unknown>>)[key]);
  return false;
}

/** The same for the JSON text of a stored result. */
export function isContentJson(json: string): boolean {
  return json.startsWith(CONTENT_JSON);
}
