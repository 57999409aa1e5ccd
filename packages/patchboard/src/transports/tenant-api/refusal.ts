import { problemJson, type RefusalFormat } from '../shared/routes/problem.ts';
import { FLAG, problemWith, TEXT } from '../shared/routes/schemas.ts';
import { AUDIT } from './audit.ts';
import { ERROR_TYPE, ERROR_TYPES } from './error-types.ts';

/** A refused request: the members of a call that failed, beside those of a problem. Where a call was asked for, its audit is there too. */
export const TENANT_REFUSAL: RefusalFormat = {
  contentType: 'application/problem+json',
  schema: problemWith(
    { success: FLAG, error: TEXT, error_type: { enum: Object.keys(ERROR_TYPES) }, audit: AUDIT },
    ['audit'],
  ),
  write: (failed, context) =>
    problemJson(failed, {
      ...context,
      more: {
        success: false,
        error: failed.message,
        error_type: ERROR_TYPE[failed.code],
        ...context.more,
      },
    }),
};
