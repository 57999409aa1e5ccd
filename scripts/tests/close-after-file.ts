// A setup file: it runs before each test file.
import { afterAll } from 'vitest';
import { closeAll } from '../../packages/patchboard/test/support/after-use.ts';

afterAll(closeAll);
