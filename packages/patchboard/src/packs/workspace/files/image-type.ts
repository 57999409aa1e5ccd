import { extname } from 'node:path';

const IMAGES: ReadonlyMap<string, string> = new Map([
  ['.png', 'image/png'],
  ['.jpg', 'image/jpeg'],
  ['.jpeg', 'image/jpeg'],
  ['.gif', 'image/gif'],
  ['.webp', 'image/webp'],
  ['.bmp', 'image/bmp'],
  ['.ico', 'image/x-icon'],
  ['.avif', 'image/avif'],
]);

/** Returns the media type by the extension; null if it is not an image type that models accept. */
export function imageTypeOf(path: string): string | null {
  return IMAGES.get(extname(path).toLowerCase()) ?? null;
}
