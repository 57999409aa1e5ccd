const SHORT_FORMS: ReadonlyMap<string, string> = new Map([
  ['USA', 'US'],
  ['U.S.', 'US'],
  ['U.S.A.', 'US'],
  ['AMERICA', 'US'],
  ['UK', 'GB'],
  ['U.K.', 'GB'],
  ['BRITAIN', 'GB'],
  ['GREAT BRITAIN', 'GB'],
  ['UAE', 'AE'],
  ['美国', 'US'],
  ['英国', 'GB'],
  ['中国', 'CN'],
]);

const US_STATES: ReadonlyMap<string, string> = new Map(
  `AL Alabama|AK Alaska|AZ Arizona|AR Arkansas|CA California|CO Colorado|CT Connecticut|DE Delaware
|DC District of Columbia|FL Florida|GA Georgia|HI Hawaii|ID Idaho|IL Illinois|IN Indiana|IA Iowa|KS Kansas
|KY Kentucky|LA Louisiana|ME Maine|MD Maryland|MA Massachusetts|MI Michigan|MN Minnesota|MS Mississippi|MO Missouri
|MT Montana|NE Nebraska|NV Nevada|NH New Hampshire|NJ New Jersey|NM New Mexico|NY New York|NC North Carolina
|ND North Dakota|OH Ohio|OK Oklahoma|OR Oregon|PA Pennsylvania|RI Rhode Island|SC South Carolina|SD South Dakota
|TN Tennessee|TX Texas|UT Utah|VT Vermont|VA Virginia|WA Washington|WV West Virginia|WI Wisconsin|WY Wyoming`
    .split('|')
    .map((row): [string, string] => [row.slice(0, 2), row.slice(3).trim()]),
);

/** Returns the names that the service may use for an abbreviated country or region. */
export function regionNames(given: string): readonly string[] {
  const key = given.toUpperCase();
  const others = [SHORT_FORMS.get(key), US_STATES.get(key)].filter((name) => name !== undefined);
  return [given, ...others];
}
