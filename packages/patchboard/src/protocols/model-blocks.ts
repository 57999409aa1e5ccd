import { blocksOf, blockText, structuredText, type ContentValue } from '@patchboard/wire';

/** What a model can be shown of a result with content: texts and pictures, in order. */
export type ModelBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly data: string; readonly mimeType: string };

/** The media types that every vendor with pictures in tool results accepts. */
const SHOWN_IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Pictures as they are; everything else as text, which names audio, files, links and pictures of other types. */
export function modelBlocks(value: ContentValue): ModelBlock[] {
  const blocks = blocksOf(value).map((block): ModelBlock => {
    if (block.type !== 'image' || !SHOWN_IMAGES.has(block.mimeType))
      return { type: 'text', text: blockText(block) };
    return { type: 'image', data: block.data, mimeType: block.mimeType };
  });
  const structured = structuredText(value);
  const all = structured === null ? blocks : [...blocks, { type: 'text', text: structured } as const];
  // Vendors refuse empty text blocks.
  return all.filter((block) => block.type === 'image' || block.text !== '');
}

export function hasImage(blocks: readonly ModelBlock[]): boolean {
  return blocks.some(({ type }) => type === 'image');
}
