import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { blocksOf, isContentValue, type CallView, type ResultBlock } from '@patchboard/wire';
import { messageOf } from '../core/failures.ts';
import { UsageError } from './exit-codes.ts';

/** Extensions of common media types; any other file is named `.bin`. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/svg+xml': 'svg',
  'audio/wav': 'wav',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'ogg',
  'application/pdf': 'pdf',
  'application/json': 'json',
  'text/plain': 'txt',
};

/**
 * Writes the pictures, audio and resources of a result into files named after the call, and returns their paths. An
 * existing file is not overwritten. The names come from the call, not from the tool, so a tool cannot choose a path.
 */
export async function saveContent({ tool_call_id: id, result }: CallView, folder: string): Promise<string[]> {
  if (!isContentValue(result)) return [];
  const name = id.replaceAll(/[^\w-]/g, '_');
  const files = blocksOf(result).flatMap((block, index) => {
    const contents = contentsOf(block);
    if (contents === null) return [];
    const extension = EXTENSIONS[contents.mimeType] ?? 'bin';
    return [{ path: join(folder, `${name}-${index + 1}.${extension}`), bytes: contents.bytes }];
  });
  try {
    await mkdir(folder, { recursive: true });
    for (const { path, bytes } of files) await writeFile(path, bytes, { flag: 'wx' });
  } catch (error) {
    throw new UsageError(`--save ${folder}: ${messageOf(error)}`);
  }
  return files.map(({ path }) => path);
}

/** Returns null for text and links, which the terminal shows. */
function contentsOf(block: ResultBlock): { readonly mimeType: string; readonly bytes: Buffer } | null {
  switch (block.type) {
    case 'image':
    case 'audio':
      return { mimeType: block.mimeType, bytes: Buffer.from(block.data, 'base64') };
    case 'resource': {
      const { mimeType = '', text, blob } = block.resource;
      const bytes = blob === undefined ? Buffer.from(text ?? '') : Buffer.from(blob, 'base64');
      return { mimeType, bytes };
    }
    default:
      return null;
  }
}
