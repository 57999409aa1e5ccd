import { reason } from '@patchboard/wire';
import { failure as failureOfTool } from '../index.ts';
import { failure, foreignText } from './failures.ts';

// @ts-expect-error A sentence of our own needs a code.
failure('tool_failed', 'it broke');

// @ts-expect-error So does one that is made from parts.
failure('tool_failed', `no such file: ${String(1)}`);

failure('tool_failed', reason('file_unknown', { path: 'a' }));
failure('tool_failed', [reason('file_unknown', { path: 'a' }), foreignText('EACCES')]);

// A tool of a user has texts of its own.
failureOfTool('tool_failed', 'it broke');
