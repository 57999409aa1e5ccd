import type { LanguageModelV2, LanguageModelV3, LanguageModelV4 } from '@ai-sdk/provider';
import { expectTypeOf } from 'vitest';
import type { LanguageModel } from '../../index.ts';

// Providers of both specification versions are assignable, without a dependency on either.
expectTypeOf<LanguageModelV3>().toExtend<LanguageModel>();
expectTypeOf<LanguageModelV4>().toExtend<LanguageModel>();
expectTypeOf<LanguageModelV2>().not.toExtend<LanguageModel>();
