/* Loads a music module and plays a little of it: libxmp's player is another package. */
#include <stdio.h>
#include <xmp.h>

int main(int count, char **words) {
    xmp_context player = xmp_create_context();
    struct xmp_module_info module;
    struct xmp_frame_info frame;
    if (count < 2 || xmp_load_module(player, words[1]) != 0) return 1;
    xmp_get_module_info(player, &module);
    printf("%s, %d channels, %d patterns\n", module.mod->type, module.mod->chn, module.mod->pat);
    if (xmp_start_player(player, 8000, 0) == 0) {
        for (int i = 0; i < 64 && xmp_play_frame(player) == 0; i++) {
            xmp_get_frame_info(player, &frame);
            if (frame.loop_count > 0) break;
        }
        xmp_end_player(player);
    }
    xmp_release_module(player);
    xmp_free_context(player);
    return 0;
}
