import { join } from 'node:path';
import { describe } from 'vitest';
import { nodeDigest } from '../../src/runtime/digest.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { aFolder } from '../support/a-folder.ts';
import { describeSearch } from './support/search-suite.ts';

const folder = await aFolder();

describe('over HTTP, on SQLite', () => {
  describeSearch(() => sqliteStore({ file: join(folder, 'patchboard.db'), digest: nodeDigest }));
});
