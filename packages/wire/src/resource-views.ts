import type { ResultBlock } from './content/content-value.ts';

/** Hints for programs that choose what to show to a model or a person. */
export interface ResourceAnnotations {
  readonly audience?: readonly ('user' | 'assistant')[];
  /** 0 (optional) to 1 (required). */
  readonly priority?: number;
  /** RFC 3339. */
  readonly last_modified?: string;
}

interface DescribedView {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
}

/** One row of `GET /v1/resources`. */
export interface ResourceView extends DescribedView {
  readonly uri: string;
  readonly mime_type?: string;
  /** Bytes of the contents, if known. */
  readonly size?: number;
  readonly annotations?: ResourceAnnotations;
}

/** One row of `GET /v1/resources/templates`. */
export interface ResourceTemplateView extends DescribedView {
  /** RFC 6570, level 1: `notes://{folder}/{page}`. */
  readonly uri_template: string;
  readonly mime_type?: string;
  readonly annotations?: ResourceAnnotations;
}

/** `GET /v1/resources/read`: usually one element; a folder may have several. */
export interface ResourceContentsView {
  readonly contents: readonly ResourceContentView[];
}

/** Either `text` or `blob` (base64). */
export interface ResourceContentView {
  readonly uri: string;
  readonly mime_type?: string;
  readonly text?: string;
  readonly blob?: string;
}

/** One row of `GET /v1/prompts`. */
export interface PromptSummaryView extends DescribedView {
  readonly arguments: readonly PromptArgumentView[];
}

export interface PromptArgumentView extends DescribedView {
  readonly required: boolean;
}

/** `POST /v1/prompts/:name`. */
export interface PromptMessagesView {
  readonly description?: string;
  readonly messages: readonly PromptMessageView[];
}

export interface PromptMessageView {
  readonly role: 'user' | 'assistant';
  readonly content: ResultBlock;
}

/** `POST /v1/complete`: suggestions for an argument of a prompt or a variable of a resource template. */
export interface CompletionView {
  /** At most 100. */
  readonly values: readonly string[];
  readonly total: number;
  readonly has_more: boolean;
}
