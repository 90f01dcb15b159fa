/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Made by tests/reference/exact.py. */
static const struct row reference_exact[] = {
    {0, {0x1.a4653b13b04f5p+4, 0x1.2478000000000p-50, 0x0.0p+0}, 0x1.0a1376845478cp+4},
    {1, {-0x1.b12a3c1729541p+58, -0x1.32b96e6d5c004p+3, -0x1.4bbd3075fde4dp-52}, -0x1.b0259c3375b00p+58},
    {2, {-0x1.2cf0a12e62e92p+995, -0x1.dd01c3c36fbebp+937, 0x1.7087206432758p+882}, -0x1.2914674f4f153p+995},
    {3, {0x1.74876e7fe006cp+36, -0x1.6000000000000p-20, 0x0.0p+0}, 0x1.6653386c8599ap+8},
    {4, {-0x0.0001ae802af0fp-1022, 0x0.0p+0, 0x0.0p+0}, 0x0.0p+0},
};
