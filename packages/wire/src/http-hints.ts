/** Where a caller over HTTP finds what it lacks, by failure code. A program with other ways compares with these and shows its own. */
export const HTTP_HINTS: Readonly<
  Record<'auth_required' | 'tool_not_found' | 'input_invalid' | 'content_type', readonly string[]>
> = {
  auth_required: ['send Authorization: Bearer <key>; make one with: patchboard keys create'],
  tool_not_found: ['GET /v1/tools lists the tools you may call'],
  input_invalid: ['GET /v1/tools/:name shows the schema of a tool'],
  content_type: ['send the header Content-Type: application/json with it'],
};
