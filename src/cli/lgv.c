/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The program lgv. */
#include "cli/cli.h"

int main(int argc, char **argv) {
    return lgv_main(argc, argv);
}
