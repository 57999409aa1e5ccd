import { isContentValue, type ContentValue } from '@patchboard/wire';
import type { Json, ToolResultBlock } from '../../protocols/messages.ts';
import { hasImage, modelBlocks } from '../../protocols/model-blocks.ts';
import { valueText } from '../../protocols/result-text.ts';
import type { ContentPart, LanguageModel, ToolResultPart } from '../loop/model.ts';

/** How a model takes pictures in tool results; null: not at all. */
export type PictureParts = LanguageModel['specificationVersion'] | null;

/**
 * The vendors whose APIs take pictures in tool results. The others' adapters write such a result as JSON text, with the
 * base64 in it.
 */
const TAKES_PICTURES = /^(?:anthropic\.|openai\.responses$)/;

export function picturePartsOf({ provider, specificationVersion }: LanguageModel): PictureParts {
  return TAKES_PICTURES.test(provider) ? specificationVersion : null;
}

/** Converts the content of a tool result to the output of an AI SDK prompt. */
export function resultOutput(
  { content, is_error: isError }: ToolResultBlock,
  pictures: PictureParts,
): ToolResultPart['output'] {
  if (isContentValue(content)) return contentOutput(content, isError, pictures);
  if (typeof content === 'string') return { type: isError ? 'error-text' : 'text', value: content };
  // Results of tools are JSON values.
  return { type: isError ? 'error-json' : 'json', value: (content ?? null) as Json };
}

/** An error has no output with parts, so its pictures are named. */
function contentOutput(
  content: ContentValue,
  isError: boolean,
  pictures: PictureParts,
): ToolResultPart['output'] {
  const blocks = modelBlocks(content);
  if (isError || pictures === null || !hasImage(blocks))
    return { type: isError ? 'error-text' : 'text', value: valueText(content) };
  const value = blocks.map((block): ContentPart => {
    if (block.type === 'text') return { type: 'text', text: block.text };
    const { data, mimeType: mediaType } = block;
    return pictures === 'v3'
      ? { type: 'image-data', data, mediaType }
      : { type: 'file', data: { type: 'data', data }, mediaType };
  });
  return { type: 'content', value };
}
