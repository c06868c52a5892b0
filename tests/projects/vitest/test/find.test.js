import { expect, test } from 'vitest';

import { find } from '../src/find.js';

test('finds a name', () => {
  expect(find(['a', 'b'], 'a')).toEqual(['a']);
});
