import { readFileSync } from 'node:fs';

/** From the package itself, so that it is written once. The path is the same from `src` and from `dist`. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
).version;
